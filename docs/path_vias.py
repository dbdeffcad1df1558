"""Vias against bone, for `make_paths.py`: where a path runs inside bone its deepest point is pushed out and kept.

A via is kept if it helps over all poses and reverses no moment arm.
"""

from __future__ import annotations

import numpy as np
from path_decisions import AS_THEY_ARE, MORE_POSES, POSES
from path_files import Path_, Point, write

from vitruvian.anatomy import human
from vitruvian.anatomy.surfaces.clearance import Clearance
from vitruvian.anatomy.tables import load_tables
from vitruvian.control import pose
from vitruvian.muscle import moment_arms
from vitruvian.skeleton import world_twists
from vitruvian.spatial import transform


def string_out(paths: dict[str, Path_], clearance: Clearance) -> list[str]:
    """Vias for paths inside bone in the default pose, one after the other at the deepest point, then thinned."""
    body = human()
    q = body.default_q
    frames = {n: transform(np.eye(3), T[:3, 3]) for n, T in clearance.frames(q).items() if n in clearance.fields}
    done = []
    for muscle in sorted({p.muscle[:-2] for p in clearance.of(body).pierces(q)} - set(AS_THEY_ARE)):
        path = paths[muscle].copy()
        fixed = {id(p) for w in path.wraps for p in w[:2]}
        deep = 0.0
        for _ in range(9):
            worst = max(
                (
                    (depth, name, at, k)
                    for k in range(len(path.points) - 1)
                    if not (id(path.points[k]) in fixed and id(path.points[k + 1]) in fixed)
                    for depth, name, at in _deepest(path, k, clearance, frames)
                ),
                key=lambda x: x[0],
                default=(0.0,),
            )
            if worst[0] < 0.0022:
                break
            deep = deep or worst[0]
            _, name, at, k = worst
            local = pushed(clearance, name, at - frames[name][:3, 3], 2.5)
            if local is None:
                break
            bone = {"Cla": "Cs", "Sca": "Cs"}.get(b := name.removesuffix("_l"), b)
            new = Point(None, bone, 1e3 * (local + frames[name][:3, 3]), f"{1e3 * deep:.0f} mm inside {b}", "medium")
            path.points.insert(k + 1, new)
        added = [p for p in path.points if p not in paths[muscle].points]
        for p in added:  # a via that is not needed goes again
            without = Path_([x for x in path.points if x is not p], path.dropped, path.wraps)
            k = next(i for i, x in enumerate(path.points) if x is p) - 1
            if k + 1 < len(without.points) and not any(
                d > 0.0024 for d, _, _ in _deepest(without, k, clearance, frames)
            ):
                path = without
        if deep:
            paths[muscle] = path
            done.append(muscle)
    return done


def static(paths: dict[str, Path_], clearance: Clearance, log=print) -> dict[str, Path_]:
    """`string_out`, kept for each muscle if it gets better and no moment arm moves by more than the bone is thick."""
    before, _ = _judge(clearance, None)
    trunk = _trunk()
    trial = {m: p.copy() for m, p in paths.items()}
    done = string_out(trial, clearance)
    write(trial)
    now, _ = _judge(clearance, before, room=0.016)
    for muscle in done:
        if now[muscle][0] > 0.9 * before[muscle][0] or now[muscle][1] > (5.0 if muscle in trunk else 1.0):
            was, left = 1e3 * before[muscle][0], 1e3 * now[muscle][0]
            log(f"{muscle}: {was:.0f} -> {left:.0f} mm, arms {now[muscle][1]:.1f}: left as it was")
            trial[muscle] = paths[muscle]
    write(trial)
    return trial


def _deepest(path: Path_, k: int, clearance: Clearance, frames):
    """(depth, bone, world point [m]) of segment k where it is deepest in each bone, default pose."""
    a, b = 1e-3 * path.points[k].at, 1e-3 * path.points[k + 1].at
    if a[0] < 0 or b[0] < 0:
        return
    n = max(int(np.linalg.norm(b - a) / 0.0015), 2)
    x = a + np.linspace(0, 1, n)[:, None] * (b - a)
    from_start, from_end = np.linalg.norm(x - a, axis=1), np.linalg.norm(x - b, axis=1)
    ok = np.ones(n, bool)
    if k == 0:
        ok &= from_start > 0.008
    if k == len(path.points) - 2:
        ok &= from_end > 0.008
    ok &= (from_start > 0.001) & (from_end > 0.001)
    if not ok.any():
        return
    for name, T in frames.items():
        depth = np.where(ok, -clearance.fields[name]((x - T[:3, 3]) @ T[:3, :3]), -1.0)
        i = int(np.argmax(depth))
        if depth[i] > 0:
            yield float(depth[i]), name, x[i]


def pushed(clearance: Clearance, bone: str, at: np.ndarray, more: float):
    """The point [m, bone's frame] pushed out of the bone along the distance's slope to `more` mm outside, or None."""
    distance = clearance.fields[bone]
    at, here, eps = at.copy(), -1.0, 0.0015
    steps = eps * np.vstack([np.eye(3), -np.eye(3)])
    for _ in range(12):
        here = float(distance(at[None])[0])
        if here > 1e-3 * more - 2e-4:
            return at
        d = distance(at + steps)
        slope = (d[:3] - d[3:]) / (2 * eps)
        size = np.linalg.norm(slope)
        if size < 0.05:
            return None
        at = at + slope / size * min(1e-3 * more - here, 0.004)
    return at if here > 0 else None


def _trunk() -> set[str]:
    """Muscles of trunk and neck: short lines between ribs and vertebrae, whose arms change with every via."""
    return {n for n, m in load_tables().muscles.items() if m.region in ("trunk", "head_neck")}


def out_of_bone(paths: dict[str, Path_], clearance: Clearance, rounds: int, best=None, log=print) -> dict[str, Path_]:
    """Add or move vias until no path is deeper in bone than it must be."""
    tried: set[tuple] = set()
    trunk = _trunk()
    write(paths)
    best, found = _judge(clearance, None) if best is None else best
    for n in range(rounds):
        trial = {m: p.copy() for m, p in paths.items()}
        asked = {}
        for muscle, pierces in found.items():
            if muscle in AS_THEY_ARE:
                continue
            change = _candidate(muscle, trial[muscle], pierces, clearance, tried)
            if change:
                asked[muscle] = change
        if not asked:
            break
        write(trial)
        now, after = _judge(clearance, best)
        kept = 0
        for muscle in asked:
            worse = now[muscle][0] > 0.98 * best[muscle][0] or now[muscle][1] > (5.0 if muscle in trunk else 1.0)
            if worse:
                trial[muscle] = paths[muscle]
                continue
            kept += 1
            best[muscle] = (now[muscle][0], best[muscle][1], best[muscle][2])
            found[muscle] = after.get(muscle, [])
        paths = trial
        counts = {}
        for pierces in found.values():
            for name in {p[0] for p in pierces}:
                counts[name] = counts.get(name, 0) + 1
        log(f"round {n}: {len(asked)} tried, {kept} kept; left {counts}")
    write(paths)
    return paths


def _judge(clearance: Clearance, before, room: float = 0.004):
    """For each left muscle: depth summed over poses beyond 2.5 mm, largest change of a moment arm in parts of what is
    allowed, the arms; and its pierces as (pose, Pierce)."""
    body = human()
    c = clearance.of(body)
    m = body.muscles
    names = [n[:-2] for n in m.names]
    left = [k for k, n in enumerate(m.names) if n.endswith("_l")]
    total, found, arms = dict.fromkeys(names, 0.0), {}, []
    for name, table in POSES.items():
        q = pose(body, table)
        arms.append(moment_arms(m, *world_twists(body.skeleton, q))[1].dense())
        for p in c.pierces(q, least=0.0025, long=0.004):
            total[p.muscle[:-2]] += p.depth - 0.0025
            found.setdefault(p.muscle[:-2], []).append((name, p))
    for table in MORE_POSES:
        arms.append(moment_arms(m, *world_twists(body.skeleton, pose(body, table)))[1].dense())
    out = {}
    arms = np.array(arms)
    for k in left:
        change = 0.0
        if before is not None:
            was = before[names[k]][2]
            change = float((np.abs(arms[:, k] - was) / np.maximum(room, 0.25 * np.abs(was))).max())
        out[names[k]] = (total[names[k]], change, arms[:, k])
    return out, found


def _candidate(muscle: str, path: Path_, pierces: list, clearance: Clearance, tried: set) -> bool:
    """Change the path by one via; False if nothing new is left to try."""
    for name, p in sorted(pierces, key=lambda x: -x[1].depth):
        for more in (2.5, 4.5, 7.0):
            key = (muscle, p.bone, *np.round(200 * p.at).astype(int), more)  # to 5 mm
            if key in tried:
                continue
            tried.add(key)
            at = pushed(clearance, p.bone, p.at, more)
            if at is None:
                continue
            world = 1e3 * (at + clearance.rest[p.bone])
            bone = {"Cla": "Cs", "Sca": "Cs"}.get(b := p.bone.removesuffix("_l"), b)
            why = f"{1e3 * p.depth:.0f} mm inside {b} ({name})"
            inner = [q for q in path.points[1:-1] if q.bone == bone and np.linalg.norm(q.at - world) < 8.0]
            if inner and not any(q is w[0] or q is w[1] for q in inner for w in path.wraps):
                old = inner[0]
                i = next(i for i, q in enumerate(path.points) if q is old)
                path.points[i] = Point(old.origin, bone, world, why, "medium")
            else:
                path.points.insert(p.segment + 1, Point(None, bone, world, why, "medium"))
            return True
    return False
