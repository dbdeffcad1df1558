"""Claims on the water's force as task control sees it, and on its program beside a peer's."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from vitruvian.control.rhythm import StrokeMotion, load_stroke
from vitruvian.control.swim import CourseActuation
from vitruvian.control.tasks import Effort, Program, TaskControl, look, random_start, turning_tasks
from vitruvian.control.tasks.force import water_force
from vitruvian.couple import BoneStep, StillWater
from vitruvian.couple.skin_links import SkinPose
from vitruvian.errors import MissingExtra
from vitruvian.skeleton import centroidal_momentum, integrate
from vitruvian.skin import BoundSkin
from vitruvian.systems import SwimmerSystem, pool
from vitruvian.systems.swimmer_signals import BODY_PARTS, parts_of
from vitruvian.verify._tasks_common import moving, swimmer
from vitruvian.verify.book import Finding, worst

Array = np.ndarray


def beside_piqp() -> Finding:
    """How much worse than piqp."""
    try:
        import piqp
    except ImportError:
        raise MissingExtra("piqp", "pip install 'vitruvian[peers]'") from None
    rng, errors, others = np.random.default_rng(1), [], []
    for _ in range(30):
        n, m = 103, 12
        low = -rng.uniform(0.0, 2.0, n)
        R, W = rng.standard_normal((m, n)), 10.0 ** rng.uniform(-1.0, 1.0, m)
        p = Program(
            10.0 ** rng.uniform(-1.0, 1.0, n), rng.standard_normal(n), low, low + rng.uniform(0.1, 4.0, n), R,
            3.0 * rng.standard_normal(m), W, np.zeros(m, bool),
        )  # fmt: skip
        solver = piqp.DenseSolver()
        solver.settings.eps_abs = solver.settings.eps_rel = 1e-11
        H = np.diag(p.weight) + R.T @ (W[:, None] * R)
        c = -p.weight * p.centre - R.T @ (W * p.target)
        solver.setup(H, c, None, None, np.zeros((0, n)), None, np.zeros(0), p.low, p.high)
        solver.solve()
        x = np.clip(solver.result.x, p.low, p.high)
        ours, theirs = (0.5 * y @ H @ y + c @ y for y in (p.solve().x, x))
        errors.append(float((ours - theirs) / abs(theirs)))
        others.append(p.optimality(x))
    detail = f"30 programs of 103 velocities and 12 rows; piqp's own violation of optimality {worst(others):.0e}"
    return Finding.error(max(0.0, max(errors)), 1e-9, "relative", detail)


def linearised() -> Finding:
    body, skin = swimmer()
    only = np.zeros_like(skin.weight)
    only[:, 0] = 1.0
    rigid = replace(skin, weight=only, volume=None)
    # triangles of one link alone, so that each moves as its link does
    whole = (skin.influence[skin.faces][:, :, 0] == skin.face_bone[:, None]).all(axis=1)
    step, still, h = BoneStep(body.skeleton), StillWater(), 1e-6
    errors: list[float] = []
    blended: list[float] = []
    for seed in range(5):
        q, v = moving(seed)
        change = np.random.default_rng(100 + seed).standard_normal(body.skeleton.n_v)
        for one, faces, links, found in (
            (rigid, rigid.faces[whole], rigid.face_bone[whole], errors),
            (skin, skin.faces, skin.face_bone, blended),
        ):
            pose = SkinPose.seen(look(step, q, v)[0], one)
            here, before, after = (water_force(pose, v + d * change, still, faces, links) for d in (0.0, -h, h))
            numeric = (after.flow - before.flow) / (2.0 * h)
            told = here.after(change) - here.flow
            found.append(float(np.abs(told - numeric).max() / np.abs(numeric).max()))
    detail = f"the skin as it is, where links share triangles: {worst(blended):.2f}"
    return Finding.error(worst(errors), 1e-5, "relative", detail)


def lifted() -> Finding:
    """Random starts, some limbs in the air; the skin as it is also swells to keep its volume."""
    body, skin = swimmer()
    s, still, h = body.skeleton, StillWater(), 1e-4
    step, errors = BoneStep(s), []

    def lift(skin: BoundSkin, q: Array, change: Array) -> tuple[Array, Array]:
        system, _, centre, momentum = look(step, q, np.zeros(s.n_v))
        water = water_force(SkinPose.seen(system, skin), np.zeros(s.n_v), still, skin.faces, np.asarray(skin.face_bone))
        return water.total(centre), water.lifted(centre, momentum[3:] / s.mass) @ change

    for one in (replace(skin, volume=None), skin):
        found = []
        for seed in range(5):
            q, change = random_start(body, skin, seed), np.random.default_rng(seed).standard_normal(s.n_v)
            told = lift(one, q, change)[1]
            after, before = (lift(one, integrate(s, q, change, d), change)[0] for d in (h, -h))
            numeric = (after - before) / (2.0 * h)
            for part in (slice(0, 3), slice(3, 6)):
                found.append(float(np.abs(told - numeric)[part].max() / np.abs(numeric[part]).max()))
        errors.append(found)
    detail = f"5 starts; a skin that swells to keep its volume, which is not told: moment {worst(errors[1][::2]):.2f}"
    return Finding.error(worst(errors[0][::2]), 0.02, "relative", detail + f"; force {worst(errors[0][1::2]):.3f}")


def fitted() -> Finding:
    """A crawl on its course in simulated water: what the fit says of the next step."""
    body, skin = swimmer()
    motion = StrokeMotion(body, load_stroke("crawl"), 0.7)
    q, v, _ = motion.sample(0.0)
    q[2] -= 0.15 + q[2]
    system = SwimmerSystem(body, skin, water=pool(0.06), q=q, v=v, muscles=False, drawn=False)
    state, drive, dt = system.start(np.random.default_rng(0)), CourseActuation(motion), 1.0 / 96.0
    control = TaskControl(body, skin, [])
    own = control.start(np.random.default_rng(0))
    missed, same, total = (np.zeros(len(BODY_PARTS)) for _ in range(3))
    parts, told, last = parts_of(skin.names), None, None
    for k in range(110):
        system.step(state, drive.act(None, state, k * dt, dt), k * dt, dt)
        now = control.look(own, state, k * dt, dt)
        flow = now.water.felt[:, 3:]
        if told is not None and k > 30:
            said = told.after(state.v - last)  # told where the forces of this step were met
            for out, value in ((missed, said[:, 3:]), (same, told.felt[:, 3:]), (total, 0.0 * flow)):
                out += np.bincount(parts, ((flow - value) ** 2).sum(axis=1), minlength=len(BODY_PARTS))
        told, last = now.water, state.v.copy()
    share, kept = np.sqrt(missed / total), np.sqrt(same / total)
    each = ", ".join(f"{n} {a:.2f} ({b:.2f})" for n, a, b in zip(BODY_PARTS, share, kept))
    ends = [share[BODY_PARTS.index(part)] for part in ("forearms", "hands", "shanks", "feet")]
    return Finding.within(worst(ends), 0.0, 0.9, "", f"{each}; in brackets: the force of the last step kept")


def foreseen() -> Finding:
    """A turn in still water: momentum a step ahead as the governing equation has it, and as it came."""
    body, skin = swimmer()
    dt = 1.0 / 96.0
    control = TaskControl(body, skin, turning_tasks(body, False), simulated=False)
    control.tasks.append(Effort(control.limits))
    q = random_start(body, skin, 4)
    system = SwimmerSystem(body, skin, water=StillWater(longest=dt), q=q, drawn=False)
    state, own = system.start(np.random.default_rng(0)), control.start(np.random.default_rng(0))
    said, got = [], []
    for k in range(96):
        now = control.look(own, state, k * dt, dt)
        before = centroidal_momentum(body.skeleton, state.q, state.v)
        system.step(state, control.act(own, state, k * dt, dt), k * dt, dt)
        w, lift = now.water, body.skeleton.mass * body.skeleton.gravity
        change = state.v - now.v
        total = w.total(now.centre) - w.damped(now.centre) @ change
        total[3:] += lift
        said.append(dt * total)
        got.append(centroidal_momentum(body.skeleton, state.q, state.v) - before)
    a, b = np.array(said), np.array(got)
    each = [float(np.corrcoef(a[:, k], b[:, k])[0, 1]) for k in range(6)]
    return Finding.within(min(each), 0.75, 1.0, "", "least of six components; " + ", ".join(f"{x:.3f}" for x in each))
