"""Make the picture of docs/swimming.md of a leg whose muscles work: the flesh of a butterfly (Si 2013, figure 6.8).

.venv/bin/python docs/make_swim.py     takes a few minutes

A butterfly in still water says when the calf works most. Flesh of 15 mm balances about the bones of that instant
with all muscles off; then with the activations of the swim; then with a calf that works as much as it can. The skin's
way from the first is what the work does.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from PIL import Image

from vitruvian.anatomy import body_flesh, body_skin, human
from vitruvian.anatomy.body_bellies import body_bellies
from vitruvian.couple import FleshSkin
from vitruvian.scenes import find
from vitruvian.skeleton import bone_poses
from vitruvian.skin import BoundSkin
from vitruvian.view import Shooting
from vitruvian.world import Frame, Stage, Surface, SurfaceFrame, scene_parameters

Array = np.ndarray
PICTURE = Path(__file__).parent / "pictures" / "swim-leg.webp"
CALF = ("gastrocnemius", "soleus")
SIDE = "_l"
SPACING = 0.015  # [m]
SHOWN = 6.0  # [mm] end of the scale
SETTLED = 6  # balances with the activations held


class Still:
    """One instant, to be photographed."""

    def __init__(self, stage: Stage, frame: Frame) -> None:
        self.stage, self.time, self.attributes = stage, np.zeros(1), {}
        self._frame = frame

    def frame(self, i: int) -> Frame:
        return self._frame


def of(names: Sequence[str], beginnings: tuple[str, ...]) -> list[int]:
    """Numbers of the muscles of one side whose names begin so."""
    return [i for i, name in enumerate(names) if name.startswith(beginnings) and name.endswith(SIDE)]


def instant() -> tuple[Array, Array, float, BoundSkin]:
    """Pose (n_q,) and activations (n_muscles,) of a butterfly's second stroke when the calf works most; their mean over
    the calf; the swimmer's skin."""
    scene = find("butterfly")
    parameters = scene_parameters(scene, "draft", {"water": "still"})
    world = scene.build(parameters)
    simulation = world.simulation
    calf = of(simulation.body.muscles.names, CALF)
    world.start()
    found: tuple[Array, Array, float] | None = None
    while world.time < 2.0 / parameters["rate"]:
        world.step()
        work = float(world.state.activation[calf].mean())
        if world.time > 1.0 / parameters["rate"] and (found is None or work > found[2]):
            found = world.state.q.copy(), world.state.activation.copy(), work
    assert found is not None
    return (*found, simulation.skin)


def main() -> None:
    q, activation, work, bound = instant()
    body = human()
    flesh = FleshSkin(
        body.skeleton,
        body.default_q,
        bound,
        body_flesh(body, spacing=SPACING, bellies=body_bellies(body, body_skin(body))).model,
        body.muscles.names,
    )
    poses, motion = bone_poses(body.skeleton, q), flesh.start(q)
    straining = activation.copy()
    straining[of(body.muscles.names, CALF)] = 1.0
    skins = []
    for given in (np.zeros_like(activation), activation, straining):
        for _ in range(SETTLED):
            flesh.follow(motion, poses, 0.01, given)
        skins.append(flesh.at(motion).place(poses).vertices)
    moved = [1e3 * np.linalg.norm(skin - skins[0], axis=1) for skin in skins]
    bone = bound.face_bone
    parts = {
        word: np.unique(bound.faces[bone == bound.names.index(name + SIDE)])
        for word, name in (("thigh", "Fe"), ("shank", "Tfp"))
    }
    print(f"mean activation of the calf {work:.2f}")
    for word, at in parts.items():
        print(
            f"skin of the {word} moves by {moved[1][at].max():.1f} mm, if the calf strains {moved[2][at].max():.1f} mm"
        )
    middle = skins[0][np.concatenate(list(parts.values()))].mean(axis=0)
    skin = Surface("skin", bound.faces, "skin", value="moved by the muscles", unit="mm", value_range=(0.0, SHOWN))
    page = Image.new("RGB", (1280, 480))
    for k in (1, 2):
        frame = Frame(surfaces={"skin": SurfaceFrame(skins[k], values=moved[k])})
        shooting = Shooting(Still(Stage(surfaces=(skin,), ground=None), frame), size=(640, 480), samples=8)
        shooting.eye, shooting.target = middle + np.array([0.8, 0.25, 0.6]), middle
        page.paste(Image.fromarray(shooting.shoot(0)), (640 * (k - 1), 0))
    page.save(PICTURE, quality=85)


if __name__ == "__main__":
    main()
