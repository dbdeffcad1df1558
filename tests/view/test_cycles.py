"""Blender scenes and path-traced pictures: the plain frames always, Blender itself where there is one."""

import json
import subprocess
import sys
from importlib.util import module_from_spec, spec_from_file_location

import numpy as np
import pytest
from PIL import Image

from vitruvian.door import render
from vitruvian.errors import InputError, MissingExtra, RunFailed
from vitruvian.exchange import export_recording
from vitruvian.view import MemoryRecording
from vitruvian.view.camera import pinhole
from vitruvian.view.cycles import engine
from vitruvian.view.cycles.folder import write_folder
from vitruvian.view.drawing import LinesPart
from vitruvian.world import Camera, Frame, Stage, Surface, SurfaceFrame

_spec = spec_from_file_location("in_blender_frames", engine.SCRIPT / "frames.py")
_frames = module_from_spec(_spec)
sys.modules[_spec.name] = _frames
_spec.loader.exec_module(_frames)


def pond(n=3):
    """A window of water with waves, and a camera near its surface."""
    x, y = np.meshgrid(np.linspace(-1.0, 1.0, 9), np.linspace(-2.0, 2.0, 17), indexing="ij")
    k = np.arange(9 * 17).reshape(9, 17)
    a, b, c, d = k[:-1, :-1].ravel(), k[1:, :-1].ravel(), k[1:, 1:].ravel(), k[:-1, 1:].ravel()
    faces = np.concatenate([np.stack([a, b, c], 1), np.stack([a, c, d], 1)]).astype(np.int32)
    rim = (np.abs(x) < 1.0) & (np.abs(y) < 2.0)
    frames = []
    for i in range(n):
        z = 0.05 * np.sin(3.0 * x + i) * rim
        frames.append(Frame(surfaces={"water": SurfaceFrame(np.stack([x, y, z], -1).reshape(-1, 3), faces)}))
    cameras = (Camera("side", (-4.0, 0.0, 0.2), (0.0, 0.0, -0.1)), Camera("top", (0.1, 0.0, 4.0), (0.0, 0.0, 0.0)))
    stage = Stage(surfaces=(Surface("water", None, layer="water"),), cameras=cameras, ground=None)
    return MemoryRecording(stage, frames, np.arange(n) / 25.0)


def test_plain_frames_read_back_as_recorded(demo, tmp_path):
    recording = demo.demo(4)
    folder = _frames.Folder(write_folder(recording, tmp_path / "f", [1, 3], rate=25.0, all_cameras=True))
    stage = recording.stage
    assert [f["index"] for f in folder.about["frames"]] == [1, 3]
    assert folder.about["rate"] == 25.0
    for m, (told, mesh) in enumerate(zip(folder.about["meshes"], stage.meshes, strict=True)):
        assert told["name"] == mesh.name
        assert told["body"] == (stage.bodies.index(mesh.body) if mesh.body else -1)
        assert np.abs(folder.still.places(f"mesh {m}") - mesh.vertices).max() < 5e-5
        assert np.array_equal(folder.still.triangles(f"mesh {m} faces"), mesh.faces)
    for k, i in enumerate((1, 3)):
        now, frame = folder.frame(k), recording.frame(i)
        assert np.allclose(now["poses"], frame.poses, atol=1e-6)
        for s, told in enumerate(folder.about["surfaces"]):
            true = frame.surfaces[told["name"]]
            assert np.abs(now.places(f"surface {s}")[: len(true.vertices)] - true.vertices).max() < 5e-5
            assert (f"surface {s} faces" in now) == (not told["fixed"])
        lines = stage.lines[0]
        tubes = LinesPart(lines).tubes
        true = tubes.at(frame.lines[lines.name].points)[0]
        assert np.abs(now.places("lines 0") - true).max() < 2e-4
        assert np.array_equal(folder.still.triangles("lines 0 faces"), tubes.faces)
        assert now["lines 0 colours"].shape == (len(lines.radius), 3)


def test_cameras_are_where_the_own_renderer_has_them(demo, tmp_path):
    recording = demo.demo(3)
    folder = _frames.Folder(write_folder(recording, tmp_path / "f", [0], size=(320, 180), all_cameras=True))
    told = {c["name"]: np.reshape(c["places"][0], (4, 4)) for c in folder.about["cameras"]}
    for camera in recording.stage.cameras:
        right, down, forward = pinhole(np.array(camera.eye), np.array(camera.target), (320, 180)).axes
        assert np.allclose(told[camera.name][:3, 3], camera.eye)
        assert np.allclose(told[camera.name][:3, :3].T, [right, -down, -forward])


def test_water_goes_on_to_the_walls_and_is_cut_towards_a_low_camera(tmp_path):
    low = {}
    for camera in ("side", "top"):
        folder = _frames.Folder(write_folder(pond(), tmp_path / camera, [1], camera=camera))
        now, pool = folder.frame(0), folder.about["pool"]
        rest = now["surface 0 rest"]
        assert np.abs(rest[:, 1]).max() > max(np.abs(pool["low"]).max(), np.abs(pool["high"]).max())
        faces = now.triangles("surface 0 faces")
        assert faces.max() == 9 * 17 + len(rest) - 1
        assert rest[-4:, 2].max() < pool["level"] - pool["depth"]  # the bottom that makes it a body of water
        low[camera] = float(rest[:-4, 2].min())
        assert pool["level"] == pytest.approx(0.0, abs=1e-6)
    assert low["side"] < -5.0  # a wall of water before the camera
    assert low["top"] == pytest.approx(0.0, abs=1e-6)


def test_without_blender_one_line_says_how_to_get_it(demo, tmp_path, monkeypatch):
    monkeypatch.delenv(engine.VARIABLE, raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(engine, "find_spec", lambda name: None)
    monkeypatch.setattr(engine.shutil, "which", lambda name: None)
    with pytest.raises(MissingExtra, match="pip install bpy") as caught:
        render(demo.demo(2), tmp_path / "a.png", engine="cycles")
    assert "\n" not in str(caught.value)
    with pytest.raises(MissingExtra, match="pip install bpy"):
        export_recording(demo.demo(2), tmp_path / "a.blend")
    monkeypatch.setenv(engine.VARIABLE, "no-such-blender")
    with pytest.raises(InputError, match="no-such-blender"):
        render(demo.demo(2), tmp_path / "a.png", engine="cycles")


def test_options_of_cycles_are_checked(demo, tmp_path):
    with pytest.raises(InputError, match="unknown engine"):
        render(demo.demo(2), tmp_path / "a.png", engine="cycle")
    with pytest.raises(InputError, match="'quality' is for"):
        render(demo.demo(2), tmp_path / "a.png", quality="fine")
    with pytest.raises(InputError, match="unknown quality"):
        render(demo.demo(2), tmp_path / "a.png", engine="cycles", quality="best")


STAND_IN = '''#!{python}
"""Stands in for Blender: grey pictures, one JSON line each; fails at the picture that FAIL_AT names."""
import json, os, sys
from pathlib import Path
from PIL import Image
words = sys.argv[1:]
folder, out = Path(words[1]), Path(words[words.index("--pictures") + 1])
about = json.loads((folder / "scene.json").read_text())
out.mkdir(exist_ok=True)
for k, name in enumerate(words[words.index("--names") + 1].split(",")):
    if os.environ.get("FAIL_AT") == str(k):
        print("Error: out of memory")
        sys.exit(1)
    drawn = not (out / name).exists()
    if drawn:
        Image.new("RGB", tuple(about["size"]), (40 * k, 90, 120)).save(out / name)
    with open(os.environ["SAID"], "a") as said:
        said.write(f"{{k}} {{drawn}}\\n")
    print(json.dumps({{"vitruvian": {{"frame": k, "out": str(out / name), "drawn": drawn}}}}), flush=True)
'''


@pytest.fixture
def stand_in(tmp_path, monkeypatch):
    program = tmp_path / "python-stand-in"
    program.write_text(STAND_IN.format(python=sys.executable))
    program.chmod(0o755)
    monkeypatch.setenv(engine.VARIABLE, str(program))
    monkeypatch.setenv("SAID", str(tmp_path / "said"))
    return tmp_path / "said"


def test_a_film_that_was_stopped_goes_on_where_it_was(demo, tmp_path, stand_in, monkeypatch):
    recording, out = demo.demo(4, rate=25.0), tmp_path / "a.mp4"
    monkeypatch.setenv("FAIL_AT", "2")
    with pytest.raises(RunFailed, match="out of memory"):
        render(recording, out, engine="cycles", size=(160, 120))
    assert not out.exists()
    monkeypatch.delenv("FAIL_AT")
    stand_in.unlink()
    told = []
    render(recording, out, engine="cycles", size=(160, 120), progress=lambda *n: told.append(n))
    assert stand_in.read_text().split() == ["0", "False", "1", "False", "2", "True", "3", "True"]
    assert told == [(i + 1, 4) for i in range(4)]
    assert out.stat().st_size > 0
    assert not list(tmp_path.glob("*.frames"))


def test_pictures_of_another_quality_or_camera_are_drawn_anew(demo, tmp_path, stand_in, monkeypatch):
    recording, out = demo.demo(2, rate=25.0), tmp_path / "a.mp4"
    for how in ({}, {"quality": "fine"}, {"eye": (3.0, -4.0, 1.0)}):
        monkeypatch.setenv("FAIL_AT", "1")
        with pytest.raises(RunFailed):
            render(recording, out, engine="cycles", size=(160, 120), **how)
    assert stand_in.read_text().split() == ["0", "True"] * 3


@pytest.fixture(scope="module")
def blender():
    try:
        return engine.find_blender()
    except InputError as error:
        pytest.skip(str(error))


def test_a_blend_file_reopens_with_bones_muscles_skin_water_and_cameras(blender, demo, tmp_path):
    recording = demo.demo(3, rate=25.0)
    out = export_recording(recording, tmp_path / "a.blend")
    check = tmp_path / "check.py"
    check.write_text(
        "import bpy, json, sys\n"
        f"bpy.ops.wm.open_mainfile(filepath={str(out)!r})\n"
        "things = {o.name: [o.type, len(o.data.vertices) if o.type == 'MESH' else 0] for o in bpy.data.objects}\n"
        "scene = bpy.context.scene\n"
        "scene.frame_set(3)\n"
        "places = {o.name: [list(row) for row in o.matrix_world] for o in bpy.data.objects if o.type != 'LIGHT'}\n"
        "print(json.dumps({'things': things, 'end': scene.frame_end, 'places': places,\n"
        "    'layers': [c.name for c in bpy.data.collections], 'engine': scene.render.engine}))\n"
    )
    command = [blender[0], str(check)] if len(blender) == 2 else [blender[0], "-b", "--python", str(check)]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    told = json.loads(next(line for line in said.splitlines() if line.startswith('{"things"')))
    stage, last = recording.stage, recording.frame(2)
    for mesh in stage.meshes:
        assert told["things"][mesh.name] == ["MESH", len(mesh.vertices)]
        if mesh.body:
            place = np.array(told["places"][mesh.name])
            assert np.allclose(place[:3, 3], last.poses[stage.bodies.index(mesh.body)][:3], atol=1e-5)
    for camera in stage.cameras:
        assert told["things"][camera.name][0] == "CAMERA"
    assert told["things"][stage.lines[0].name][1] > 0
    assert set(told["layers"]) >= {part.layer for part in (*stage.meshes, *stage.surfaces, *stage.lines)}
    assert told["end"] == 3
    assert told["engine"] == "CYCLES"


def test_a_traced_picture_shows_something(blender, demo, tmp_path):
    out = render(demo.demo(2), tmp_path / "a.png", engine="cycles", quality="draft", device="cpu", size=(96, 64))
    pixels = np.asarray(Image.open(out).convert("RGB"))
    assert pixels.shape == (64, 96, 3)
    assert pixels.std() > 10.0
