"""Make the pictures of docs/flesh.md: poses, muscles under the skin, the bulging biceps, what the bones feel.

.venv/bin/python docs/make_flesh.py FOLDER [PICTURE...]    recordings are kept in FOLDER and used again; all pictures
"""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
from PIL import Image

from vitruvian.anatomy import body_flesh, body_skin, bone_surfaces, human
from vitruvian.anatomy.body_bellies import body_bellies
from vitruvian.anatomy.skin_data import BUILDS
from vitruvian.anatomy.skin_flesh import enclosed_volume
from vitruvian.control import pose
from vitruvian.couple import BoneFlesh
from vitruvian.flesh import Loads, Settings, embed, preset, self_contact
from vitruvian.mesh import vertex_normals
from vitruvian.skeleton import bone_poses, difference, integrate
from vitruvian.systems.colours import MUSCLE, SKIN
from vitruvian.view import Shooting
from vitruvian.world import Frame, Mesh, Recording, Stage, Surface, SurfaceFrame

PICTURES = Path(__file__).parent / "pictures"
SIDES = [(0.7, -4.9, 1.15), (4.9, -0.6, 1.15), (-0.7, 4.9, 1.15), (-3.5, -3.5, 1.15)]
MIDDLE = (0.0, 0.0, 0.97)
EXAGGERATED = 5.0  # how many times as large the bulge of `tone` is drawn


class Still:
    """One instant, to be photographed."""

    def __init__(self, stage: Stage, frame: Frame) -> None:
        self.stage, self.time, self.attributes = stage, np.zeros(1), {}
        self._frame = frame

    def frame(self, i: int) -> Frame:
        return self._frame


def shot(recording, i, eye, target, size, layers=None, words=False) -> Image.Image:
    shooting = Shooting(recording, size=size, layers=layers, samples=8, words=words)
    shooting.eye, shooting.target = np.array(eye, float), np.array(target, float)
    return Image.fromarray(shooting.shoot(i))


def sheet(rows: list[list[Image.Image]], name: str) -> None:
    width, height = rows[0][0].size
    page = Image.new("RGB", (width * len(rows[0]), height * len(rows)))
    for r, row in enumerate(rows):
        for c, picture in enumerate(row):
            page.paste(picture, (c * width, r * height))
    page.save(PICTURES / f"{name}.webp", quality=82)
    print(name, flush=True)


def recorded(folder: Path, name: str, scene: str, *options: str) -> Recording:
    path = folder / f"{name}.zarr"
    if not path.exists():
        command = [sys.executable, "-m", "vitruvian", "run", scene, "--out", str(path), *options]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return Recording.open(path)


def nearest(recording: Recording, time: float) -> int:
    return int(np.abs(np.asarray(recording.time) - time).argmin())


def flexed(folder: Path) -> np.ndarray:
    """The skin with elbows at 90 and knees at 40 degrees, balanced on a lattice of 30 mm."""
    kept = folder / "flexed.npy"
    if not kept.exists():
        body = human(pelvis="fixed")
        skin = body_skin(human())
        flesh = body_flesh(body, spacing=0.03, skin=skin, material=preset("soft"), ties="footprints")
        placed = bone_poses(body.skeleton, body.default_q)
        bends = [placed[body.skeleton.index(b), :3, 3] for b in ("Ul_l", "Ul_r", "Tfp_l", "Tfp_r")]
        near = np.min([np.linalg.norm(skin.vertices - b, axis=1) for b in bends], axis=0) < 0.14
        contact = self_contact(flesh.model.lattice, skin.vertices, skin.faces, among=near, stiffness=3e7)
        pair = BoneFlesh(body.skeleton, flesh.model, Settings(newton=40))
        state = pair.start(body.default_q)
        way = difference(body.skeleton, body.default_q, pose(body, {"elbow": 90, "knee": 40}))
        for part in np.linspace(0.0, 1.0, 13)[1:]:
            state.bones.q[:] = integrate(body.skeleton, body.default_q, way, part)
            pair.settle(state, Loads(self_contact=contact))
        np.save(kept, embed(flesh.model.lattice, skin.vertices).positions(state.flesh.x))
    return np.load(kept)


def poses(folder: Path) -> None:
    skin = body_skin(human())
    stage = Stage(surfaces=(Surface("skin", skin.faces, "skin", SKIN),), ground=None)
    rows = []
    for vertices in (skin.vertices, flexed(folder)):
        still = Still(stage, Frame(surfaces={"skin": SurfaceFrame(vertices)}))
        rows.append([shot(still, 0, eye, MIDDLE, (480, 540)) for eye in SIDES])
    sheet(rows, "flesh-poses")


def folded(folder: Path, touching: bool) -> np.ndarray:
    """The skin with the left elbow flexed by 67.5, 90 and 121.5 degrees on a lattice of 30 mm, shape (3, n, 3)."""
    kept = folder / f"folded-{touching}.npy"
    if not kept.exists():
        body = human(pelvis="fixed")
        flesh = body_flesh(body, spacing=0.03)
        skin, skeleton = flesh.skin, body.skeleton
        near = np.linalg.norm(
            skin.vertices - bone_poses(skeleton, body.default_q)[skeleton.index("Ul_l"), :3, 3], axis=1
        )
        lattice = flesh.model.lattice
        contact = self_contact(lattice, skin.vertices, skin.faces, among=near < 0.16) if touching else None
        pair, riding, found = BoneFlesh(skeleton, flesh.model), embed(lattice, skin.vertices), []
        state, at = pair.start(body.default_q), skeleton.q_start[skeleton.index("Ul_l")]
        for k in range(1, 28):
            state.bones.q[at] = body.default_q[at] + np.deg2rad(4.5 * k)
            pair.settle(state, Loads(self_contact=contact))
            if k in (15, 20, 27):
                found.append(riding.positions(state.flesh.x))
        np.save(kept, np.stack(found))
    return np.load(kept)


def elbow(folder: Path) -> None:
    faces = body_flesh(human(pelvis="fixed"), spacing=0.03).skin.faces
    stage = Stage(surfaces=(Surface("skin", faces, "skin", SKIN),), ground=None)
    free, apart = folded(folder, False)[-1], folded(folder, True)
    row = []
    for vertices in (*apart, free):
        still = Still(stage, Frame(surfaces={"skin": SurfaceFrame(vertices)}))
        row.append(shot(still, 0, (0.38, -0.35, 2.15), (0.38, 0.02, 1.55), (480, 420)))
    sheet([row], "flesh-elbow")


def muscles(folder: Path) -> None:
    body = human()
    skin = body_skin(body)
    shapes = [b.surface() for b in body_bellies(body, skin)]
    first = np.cumsum([0] + [len(v) for v, _ in shapes])
    faces = np.concatenate([f + o for (_, f), o in zip(shapes, first)])
    placed = bone_poses(body.skeleton, body.default_q)
    bones = []
    for name, (v, f) in bone_surfaces(body).items():
        at = placed[body.skeleton.index(name)]
        bones.append(Mesh(name, "", v @ at[:3, :3].T + at[:3, 3], f, layer="bones"))
    stage = Stage(
        meshes=tuple(bones),
        surfaces=(Surface("muscles", faces, "muscles", MUSCLE), Surface("skin", skin.faces, "skin", SKIN, 0.28)),
        ground=None,
    )
    surfaces = {"muscles": SurfaceFrame(np.concatenate([v for v, _ in shapes])), "skin": SurfaceFrame(skin.vertices)}
    still = Still(stage, Frame(surfaces=surfaces))
    views = [((0.5, -2.2, 1.5), (0.12, 0.0, 1.36)), ((-0.5, 2.2, 1.5), (-0.12, 0.0, 1.36))]
    sheet([[shot(still, 0, eye, target, (800, 640)) for eye, target in views]], "flesh-muscles")


def biceps(folder: Path) -> None:
    recording = recorded(folder, "biceps", "biceps", "--quality", "standard")
    views = [((0.62, -0.85, 2.05), (0.44, 0.02, 1.56))]
    times = (0.0, 0.6, 2.1)
    rows = [
        [shot(recording, nearest(recording, t), eye, target, (560, 400), None, True) for t in times]
        for eye, target in views
    ]
    strain = recorded(
        folder, "biceps-strain", "biceps", "--set", "colour=strain", "--quality", "standard", "--seconds", "2.15"
    )
    rows += [[shot(strain, nearest(strain, t), *views[0], (560, 400), ["skin", "bones"], True) for t in times]]
    sheet(rows, "flesh-biceps")


def girth(folder: Path) -> None:
    """Cross-section over the belly against activation (elbow held) and against the elbow's angle (working)."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    recording = recorded(folder, "biceps", "biceps", "--quality", "standard")
    s, time = recording.signals, np.asarray(recording.time)
    area = 1e4 * s["girth"]
    figure, (left, right) = plt.subplots(1, 2, figsize=(9.6, 3.6), sharey=True, layout="constrained")
    held, moving = time <= 0.6 + 1e-9, time >= 1.3
    left.plot(s["effort"][held], area[held], "o-", color="#b3332b")
    left.set(xlabel="activation of the flexors, elbow held at 10°", ylabel="cross-section of the upper arm [cm²]")
    right.plot(np.rad2deg(s["elbow"][moving]), area[moving], "o-", color="#2f6fa8", label="working against the cable")
    right.axhline(area[0], color="0.5", lw=1, ls="--", label="straight and slack")
    right.set(xlabel="elbow angle [degrees]")
    right.legend(frameon=False)
    for axes in (left, right):
        axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(folder / "girth.png", dpi=100)
    Image.open(folder / "girth.png").convert("RGB").save(PICTURES / "flesh-girth.webp", quality=90)
    print("flesh-girth", flush=True)


def poke(folder: Path) -> None:
    recording = recorded(folder, "poke", "poke", "--quality", "standard", "--seconds", "1.0")
    eye, target = (0.95, -1.15, 1.62), (0.0, -0.05, 1.27)
    row = [shot(recording, nearest(recording, 1.0), eye, target, (700, 520), None, True)]
    pressed = recorded(folder, "poke-pressure", "poke", "--set", "colour=pressure", "--seconds", "1.0")
    row.append(shot(pressed, nearest(pressed, 1.0), (0.5, -1.5, 1.5), target, (700, 520), ["skin", "things"], True))
    sheet([row], "flesh-poke")


def curl(folder: Path) -> None:
    options = ("--set", "flesh=elements", "--quality", "standard", "--seconds", "1.25")
    recording = recorded(folder, "curl", "curl", *options)
    front, side = ((0.75, -1.7, 1.75), (0.0, 0.0, 1.33)), ((1.75, -0.35, 1.7), (0.0, 0.0, 1.33))
    back = ((-0.6, 1.75, 1.75), (0.0, 0.0, 1.33))
    skin, inside = ["skin", "muscles", "things"], ["bones", "muscles", "things"]  # no muscle may show through the skin
    rows = []
    for time, last in ((0.0, skin), (1.2, inside)):
        views = [(front, skin), (side, skin), (back, skin), (((0.35, -1.1, 2.3), (0.05, 0.0, 1.45)), last)]
        if last is inside:
            views[-1] = (front, inside)
        rows.append([shot(recording, nearest(recording, time), *v, (480, 480), layers) for v, layers in views])
    sheet(rows, "flesh-curl")


def tone(folder: Path) -> None:
    """The shoulder slack and tense, and with what tension adds drawn fivefold; sections, and how far the skin went."""
    options = ("--set", "flesh=elements", "--quality", "standard", "--seconds", "0.3")
    recording = recorded(folder, "tone", "tone", *options)
    frame = recording.frame(nearest(recording, 0.28))
    faces = np.asarray(next(s.faces for s in recording.stage.surfaces if s.name == "tone 0 skin"))
    skins = [
        frame.surfaces[f"tone {g} skin"].vertices - [0.95 * (k - 1), 0.0, 0.0] for k, g in enumerate(("0", "0.5", "1"))
    ]
    normal = vertex_normals(skins[0], faces)
    out = [1e3 * np.sum((v - skins[0]) * normal, axis=1) for v in skins]
    print("skin went out by up to", [f"{o.max():.1f} mm" for o in out], "and in by", [f"{-o.min():.1f}" for o in out])
    target, front, back = (0.33, -0.03, 1.53), (0.72, -0.62, 1.92), (0.75, 0.78, 1.42)
    plain = Stage(surfaces=(Surface("skin", faces, "skin", SKIN),), ground=None)
    shaded = Stage(surfaces=(Surface("skin", faces, "skin", SKIN, 1.0, "outward", "mm", (-3.0, 3.0)),), ground=None)
    top = [
        shot(Still(plain, Frame(surfaces={"skin": SurfaceFrame(v)})), 0, back, target, (520, 420))
        for v in (skins[0], skins[2], skins[0] + EXAGGERATED * (skins[2] - skins[0]))
    ]
    tense = Still(shaded, Frame(surfaces={"skin": SurfaceFrame(skins[2], None, out[2])}))
    maps = [shot(tense, 0, eye, target, (520, 420), None, True) for eye in (back, front)]
    sheet([top, [_sections(folder, recording, skins, faces), *maps]], "flesh-tone")


def _sections(folder: Path, recording: Recording, skins: list[np.ndarray], faces: np.ndarray) -> Image.Image:
    """Outlines of the three arms where the deltoid is thickest, over each other."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    frame = recording.frame(nearest(recording, 0.28))
    bodies = list(recording.stage.bodies)
    upper, lower = (frame.poses[bodies.index(f"tone 0.5 {b}"), :3] for b in ("Hu_l", "Ul_l"))
    along = (lower - upper) / np.linalg.norm(lower - upper)
    middle = upper + 0.36 * (lower - upper)
    across = np.cross(along, [0.0, 0.0, 1.0])
    across /= np.linalg.norm(across)
    figure, axes = plt.subplots(figsize=(5.2, 4.2), dpi=100, layout="constrained")
    for vertices, colour, level in zip(skins, ("0.55", "#2f6fa8", "#b3332b"), ("0", "0.5", "1")):
        drawn = skins[0] + EXAGGERATED * (vertices - skins[0])
        height = (drawn - middle) @ along
        near = np.linalg.norm(vertices - middle, axis=1) < 0.12
        for f in faces[near[faces].all(axis=1)]:
            cut = []
            for a, b in ((0, 1), (1, 2), (2, 0)):
                ha, hb = height[f[a]], height[f[b]]
                if ha * hb < 0.0:
                    p = (drawn[f[a]] * hb - drawn[f[b]] * ha) / (hb - ha) - middle
                    cut.append(1e3 * np.array([p @ across, p[2]]))
            if len(cut) == 2:
                axes.plot(*np.transpose(cut), color=colour, lw=1.3)
        axes.plot([], [], color=colour, label=f"coactivation {level}")
    axes.set(
        aspect="equal",
        xlabel="across [mm]",
        ylabel="up [mm]",
        title=f"deltoid, growth drawn {EXAGGERATED:.0f} times as large",
    )
    axes.legend(frameon=False, loc="center")
    axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(folder / "sections.png")
    plt.close(figure)
    return Image.open(folder / "sections.png").convert("RGB").resize((520, 420))


def builds(folder: Path) -> None:
    """Every build from front and side, and what sex, age and weight do to the average one."""
    shapes = [BUILDS[name] for name in BUILDS]
    average = BUILDS["average"]
    shapes += [replace(average, weight=0.0), replace(average, weight=1.0), replace(average, sex=0.0)]
    rows: list[list[Image.Image]] = [[], []]
    for shape in shapes:
        skin = body_skin(human(), shape)
        stage = Stage(surfaces=(Surface("skin", skin.faces, "skin", SKIN),), ground=None)
        still = Still(stage, Frame(surfaces={"skin": SurfaceFrame(skin.vertices)}))
        for row, eye in zip(rows, ((0.6, -4.6, 1.1), (4.6, -0.6, 1.1))):
            row.append(shot(still, 0, eye, MIDDLE, (480, 520)).crop((120, 0, 360, 520)))
        print(shape, f"{1e3 * enclosed_volume(skin):.1f} litres", flush=True)
    sheet(rows, "flesh-builds")


MAKERS = {
    "poses": poses,
    "elbow": elbow,
    "muscles": muscles,
    "biceps": biceps,
    "girth": girth,
    "poke": poke,
    "curl": curl,
    "tone": tone,
    "builds": builds,
}

if __name__ == "__main__":
    place = Path(sys.argv[1])
    place.mkdir(parents=True, exist_ok=True)
    for asked in sys.argv[2:] or MAKERS:
        MAKERS[asked](place)
