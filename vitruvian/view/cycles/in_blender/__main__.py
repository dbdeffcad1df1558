"""Runs inside Blender's Python: a folder of frames as path-traced pictures, or as a .blend file.

    python in_blender FOLDER --pictures OUT [--samples 64] [--device auto|cpu|cuda] [--frames 0,5,7] [--no-denoise]
    python in_blender FOLDER --blend scene.blend

`python` is one that has the package `bpy`; Blender itself does as `blender -b --python in_blender/__main__.py --`.
Pictures already there are not drawn again. A line of JSON tells of each picture that is done. It needs NumPy and
nothing of ours, so that this folder and a folder of frames can be carried to another machine.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import bpy
from frames import Folder
from scene import Scene

KINDS = {"cuda": ("OPTIX", "CUDA"), "auto": ("OPTIX", "CUDA", "HIP", "METAL", "ONEAPI")}


def main() -> None:
    words = sys.argv[sys.argv.index("--") + 1 :] if "--" in sys.argv else sys.argv[1:]
    parser = argparse.ArgumentParser(prog="in_blender")
    parser.add_argument("folder")
    parser.add_argument("--pictures", help="folder for pictures")
    parser.add_argument("--names", help="names of the pictures, separated by commas; frame-NNNNNN.png without it")
    parser.add_argument("--blend", help="file to save the scene to")
    parser.add_argument("--frames", help="which frames of the folder, counted from 0, separated by commas")
    parser.add_argument("--samples", type=int, default=64)
    parser.add_argument("--device", choices=("auto", "cpu", "cuda"), default="auto")
    parser.add_argument("--size", help="WxH instead of the folder's")
    parser.add_argument("--no-denoise", action="store_true")
    asked = parser.parse_args(words)
    folder = Folder(asked.folder)
    if asked.size:
        folder.about["size"] = [int(side) for side in asked.size.split("x")]
    scene = Scene(folder)
    device = set_up(asked.samples, asked.device, not asked.no_denoise)
    if asked.blend:
        scene.animate(lambda done, total: tell(done=done, total=total))
        bpy.ops.wm.save_as_mainfile(filepath=str(Path(asked.blend).resolve()), compress=True)
        tell(saved=asked.blend)
    if asked.pictures:
        tell(device=device)
        out = Path(asked.pictures)
        out.mkdir(parents=True, exist_ok=True)
        chosen = [int(k) for k in asked.frames.split(",")] if asked.frames else range(len(folder.about["frames"]))
        names = asked.names.split(",") if asked.names else []
        for n, k in enumerate(chosen):
            name = names[n] if names else Path(folder.about["frames"][k]["file"]).stem + ".png"
            picture(scene, k, out / name)


def picture(scene: Scene, k: int, out: Path) -> None:
    """Draw frame k of the folder, unless it is there; the file appears when it is whole."""
    began = time.perf_counter()
    drawn = not out.exists()
    if drawn:
        scene.show(k)
        partial = out.with_name(f".partial-{os.getpid()}.png")
        bpy.context.scene.render.filepath = str(partial.resolve())
        bpy.ops.render.render(write_still=True)
        os.replace(partial, out)
    tell(frame=k, out=str(out), drawn=drawn, seconds=round(time.perf_counter() - began, 2))


def set_up(samples: int, device: str, denoise: bool) -> str:
    """Cycles with this many samples per pixel; returns the device that draws."""
    scene = bpy.context.scene
    scene.render.engine = "CYCLES"
    cycles = scene.cycles
    cycles.samples = samples
    cycles.use_adaptive_sampling, cycles.adaptive_threshold = True, 0.01
    cycles.use_denoising = denoise
    if denoise:
        cycles.denoiser = "OPENIMAGEDENOISE"
    cycles.max_bounces, cycles.transmission_bounces, cycles.transparent_max_bounces = 12, 8, 16
    cycles.diffuse_bounces, cycles.glossy_bounces, cycles.volume_bounces = 3, 4, 0
    cycles.caustics_reflective = cycles.caustics_refractive = False
    cycles.sample_clamp_indirect = 8.0
    cycles.seed = 0
    scene.render.use_persistent_data = True
    scene.render.image_settings.file_format = "PNG"
    scene.render.image_settings.color_mode = "RGB"
    scene.view_settings.view_transform = "AgX"
    scene.view_settings.look = "AgX - High Contrast"
    scene.view_settings.exposure = 0.3
    name = "cpu"
    if device != "cpu":
        preferences = bpy.context.preferences.addons["cycles"].preferences
        for kind in KINDS[device]:
            try:
                preferences.compute_device_type = kind
            except TypeError:  # this build does not know it
                continue
            preferences.get_devices()
            found = [d for d in preferences.devices if d.type == kind]
            if found:
                for d in preferences.devices:
                    d.use = d.type == kind
                cycles.device, name = "GPU", f"{kind}: {', '.join(d.name for d in found)}"
                break
    if device == "cuda" and name == "cpu":
        raise SystemExit("no CUDA device was found; --device cpu draws without one")
    if name == "cpu":
        cycles.device = "CPU"
    return name


def tell(**what: object) -> None:
    print(json.dumps({"vitruvian": what}), flush=True)


if __name__ == "__main__":
    main()
