"""A trial's report as one HTML page that stands alone: who, how well, curves of angles, moments, powers, muscles."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape

import numpy as np

from vitruvian.anatomy import Body
from vitruvian.anatomy.body import JOINT_WORDS, STATURE
from vitruvian.anatomy.proportions import SEGMENTS
from vitruvian.measured.charts import COLOURS, Chart, draw_svg
from vitruvian.measured.literature import STANDING, Peak
from vitruvian.measured.pipeline import Tracked
from vitruvian.skeleton import bone_poses

Array = np.ndarray
GROUPS = 12  # muscles that are drawn
RESERVES = 10  # coordinates that are listed
STYLE = """
:root { color-scheme: light; }
body { font: 15px/1.45 system-ui, sans-serif; color: #222a33; background: #fff; margin: 0 auto; max-width: 1240px;
  padding: 24px; }
h1 { font-size: 24px; margin: 0 0 4px; }
h2 { font-size: 18px; margin: 28px 0 6px; border-bottom: 1px solid #d8dde3; padding-bottom: 3px; }
p.lead { color: #55606c; margin: 0 0 14px; }
.plots { display: grid; grid-template-columns: repeat(auto-fill, minmax(360px, 1fr)); gap: 10px 16px; }
table { border-collapse: collapse; margin: 6px 0; }
th, td { white-space: nowrap; padding: 3px 14px 3px 0; text-align: left; vertical-align: top; }
th { font-weight: 600; border-bottom: 1px solid #d8dde3; }
td.w { white-space: normal; }
td.n { text-align: right; font-variant-numeric: tabular-nums; }
.cols { display: flex; flex-wrap: wrap; align-items: flex-start; gap: 8px 48px; }
.out { color: #b4432c; }
.in { color: #2f7a3a; }
svg { width: 100%; height: auto; font: 11px system-ui, sans-serif; }
svg .title { font-size: 12.5px; font-weight: 600; fill: #222a33; }
svg .unit { font-weight: 400; fill: #6b7682; }
svg .tick { fill: #55606c; font-size: 10.5px; }
svg .end { text-anchor: end; }
svg .mid { text-anchor: middle; }
svg .grid { stroke: #e6eaee; }
svg .zero { stroke: #9aa4ae; }
svg .band { fill: #9fc6a6; opacity: .35; }
ul { margin: 4px 0; padding-left: 20px; }
"""
BOTH = ("left", "right")
WORDS = {"rigid": "fibres on stiff tendons", "elastic": "fibres on elastic tendons", "documents": "lines all fibre"}


def report_page(found: Tracked, wall_seconds: float) -> str:
    """The page."""
    t, curves, body = found.curves.time, found.curves, found.body
    mass = body.skeleton.mass
    spans = _stances(found)
    band = {p.band.quantity: (p.band.low, p.band.high) for p in found.peaks}
    title = f"Report on {found.trial.name}"
    parts = [
        "<!doctype html><html lang='en'><head><meta charset='utf-8'>",
        f"<title>{escape(title)}</title><style>{STYLE}</style></head><body><h1>{escape(title)}</h1>",
        f"<p class='lead'>{escape(_lead(found, wall_seconds))}</p>",
        "<div class='cols'>", _facts(found), _residuals(found), "</div>",
        "<h2>How it was found</h2><ul>", *(f"<li>{escape(r)}</li>" for r in found.remarks), "</ul>",
    ]  # fmt: skip
    if found.peaks:
        parts += ["<h2>Peaks beside published ranges</h2>", _peaks(found.peaks)]
    shade = f"Bars under the curves: stance of the <span style='color:{COLOURS[0]}'>left</span> and "
    shade += f"<span style='color:{COLOURS[1]}'>right</span> foot. Green: published range of the peak."
    parts += [
        f"<h2>Joint angles</h2><p class='lead'>Flexion counts from straight lines between joint centres. {shade}</p>"
    ]
    parts += _plots(t, _pairs(curves.angles, "deg", spans, band, 1.0, ""))
    parts += ["<h2>Net joint moments</h2><p class='lead'>Internal moments, in parts of body mass.</p>"]
    parts += _plots(t, _pairs(curves.moments, "N m/kg", spans, band, mass, " moment"))
    parts += ["<h2>Joint powers</h2>", *_plots(t, _pairs(curves.powers, "W/kg", spans, {}, mass, ""))]
    kind = found.ground.kind
    parts += [f"<h2>Ground forces</h2><p class='lead'>From {escape(kind)}, in body weights.</p>"]
    parts += _plots(
        t, _pairs(curves.ground, "BW", spans, {"vertical": band.get("vertical ground force")}, mass * STANDING, "")
    )
    if found.settings.muscles != "none":
        parts += _muscle_parts(found, t, spans, band, mass)
    parts.append("</body></html>")
    return "\n".join(parts)


def _muscle_parts(
    found: Tracked,
    t: Array,
    spans: Sequence[tuple[float, float, str]],
    band: Mapping[str, tuple[float, float]],
    mass: float,
) -> list[str]:
    groups = found.curves.muscle_groups
    bare = {name.rsplit(", ", 1)[0] for name in groups}
    size = {b: max(float(groups[n].max()) for n in groups if n.rsplit(", ", 1)[0] == b) for b in bare}
    chosen = sorted(size, key=lambda b: -size[b])[:GROUPS]
    shown = {n: c for b in chosen for n, c in groups.items() if n.rsplit(", ", 1)[0] == b}
    parts = [
        f"<h2>Muscle forces</h2><p class='lead'>Static optimisation over {found.body.muscles.n_muscles} muscles with "
        f"{WORDS[found.settings.muscles]} (least sum of squared activations, with reserves); the {len(chosen)} "
        "strongest here, all in the tables beside this page.</p>",
        *_plots(t, _pairs(shown, "N", spans, {}, 1.0, "")),
        "<h2>Joint reactions</h2><p class='lead'>Size of the force that each joint carries, muscles included, in body "
        "weights.</p>",
        *_plots(t, _pairs(found.curves.reactions, "BW", spans, band, mass * STANDING, " reaction")),
        "<h2>Reserves</h2><p class='lead'>What muscles could not give, largest first.</p>",
    ]
    worst = np.abs(found.forces.reserve).max(axis=0)
    rows = [
        (found.body.coordinate_names[i], f"{worst[i]:.1f} N m")
        for i in np.argsort(-worst)[:RESERVES]
        if worst[i] > 0.05
    ]
    return [*parts, _table(("joint coordinate", "largest reserve"), rows)]


def _lead(found: Tracked, wall: float) -> str:
    trial = found.trial
    return (
        f"{trial.source}, {len(trial.time)} frames in {trial.duration:.3g} s ({trial.rate:.0f} a second), analysed in "
        f"{wall:.3g} s; {found.body.skeleton.n_v} joint coordinates, {found.body.muscles.n_muscles} muscles."
    )


def _facts(found: Tracked) -> str:
    m = found.metrics
    rows = [
        ("height", f"{m['height_m']:.3f} m"), ("mass", f"{m['mass_kg']:.1f} kg"),
        ("mean speed", f"{m['speed_m_per_s']:.2f} m/s"), ("ground", found.ground.kind),
        ("force left on the pelvis", f"{100 * m['pelvis_force_rms_bw']:.1f} % of body weight (rms)"),
        ("moment left on the pelvis", f"{m['pelvis_moment_rms_nm']:.1f} N m (rms)"),
    ]  # fmt: skip
    if "largest_reserve_nm" in m:
        rows.append(("largest reserve", f"{m['largest_reserve_nm']:.1f} N m"))
    return "<div><h2>Subject</h2>" + _table(("", ""), rows) + _segments(found) + "</div>"


def _segments(found: Tracked) -> str:
    """Factors of the segments, and between what they were measured."""
    s = found.subject
    names = [*s.factors, *(n for n in s.lengths if n not in s.factors)]
    rows = []
    for name in names:
        theirs, ours = s.lengths.get(name, (0.0, 0.0))
        factor = f"{s.factors[name]:.3f}" if name in s.factors else "–"
        between = (f"{theirs:.3f} m", f"{ours:.3f} m") if theirs else ("–", "–")
        rows.append((name, factor, _joint_length(found.body, name), *between))
    rows += [(name, "1, not measured", _joint_length(found.body, name), "–", "–") for name in s.unseen
             if name not in s.lengths]  # fmt: skip
    if not rows:
        return ""
    lead = (
        f"<p class='lead'>Length of each segment against our body {s.scale * STATURE:.3f} m tall, from joint to joint, "
        f"and between {'joints' if len(found.goals.turn_bone) else 'markers'} as measured and on the body.</p>"
    )
    return "<h2>Segments</h2>" + lead + _table(("segment", "factor", "joint to joint", "measured", "body"), rows)


def _joint_length(body: Body, segment: str) -> str:
    near, far = SEGMENTS[segment][1]
    if not near:
        return "–"
    s = body.skeleton
    joint = bone_poses(s, body.default_q)[:, :3, 3]
    return f"{np.linalg.norm(joint[s.index(f'{far}_l')] - joint[s.index(f'{near}_l')]):.3f} m"


def _residuals(found: Tracked) -> str:
    goals, fit = found.goals, found.fit
    rows = []
    used = np.flatnonzero(goals.point_weight > 0.0)
    for k in used.tolist():
        d = fit.distance[:, k]
        rows.append(
            (_point_name(found, k), f"{1e3 * np.sqrt(np.nanmean(d**2)):.1f} mm", f"{1e3 * np.nanmax(d):.1f} mm")
        )
    for k in range(fit.angle.shape[1]):
        a = np.degrees(fit.angle[:, k])
        rows.append(
            (
                f"turn of {_bone_name(found, int(goals.turn_bone[k]))}",
                f"{np.sqrt(np.mean(a**2)):.1f}°",
                f"{a.max():.1f}°",
            )
        )
    half = (len(rows) + 1) // 2
    head = ("measured", "rms", "largest")
    tables = _table(head, rows[:half]) + (_table(head, rows[half:]) if rows[half:] else "")
    return f"<div><h2>Residuals</h2><div class='cols'>{tables}</div></div>"


def _point_name(found: Tracked, k: int) -> str:
    """A marker's name, or the joint's where a file has joints."""
    name = found.goals.names[k]
    if not len(found.goals.turn_bone):
        return name
    word = next((w for w, bone in JOINT_WORDS.items() if bone == name.split("_")[0]), name)
    return word + {"_l": ", left", "_r": ", right"}.get(name[-2:], "")


def _bone_name(found: Tracked, bone: int) -> str:
    return found.body.full_names[found.body.skeleton.names[bone]]


def _peaks(found: Sequence[Peak]) -> str:
    rows = []
    for p in found:
        word = "<span class='in'>within</span>" if p.within else "<span class='out'>outside</span>"
        rows.append(
            f"<tr><td>{escape(p.band.quantity)}</td><td class='n'>{p.left:.2f}</td><td class='n'>{p.right:.2f}</td>"
            f"<td class='n'>{p.band.low:g} to {p.band.high:g}</td><td>{escape(p.band.unit)}</td><td>{word}</td>"
            f"<td class='w'>{escape(p.band.source)}</td></tr>"
        )
    head = "".join(f"<th>{h}</th>" for h in ("peak", "left", "right", "published", "unit", "mean of both", "source"))
    return f"<table><tr>{head}</tr>{''.join(rows)}</table>"


def _pairs(
    curves: Mapping[str, Array], unit: str, spans: Sequence[tuple[float, float, str]],
    bands: Mapping[str, tuple[float, float] | None], size: float, ending: str,
) -> Iterable[Chart]:  # fmt: skip
    """One chart for left and right together."""
    seen: dict[str, dict[str, Array]] = {}
    for name, curve in curves.items():
        bare, _, side = name.rpartition(", ")
        whose = next((s for s in BOTH if side.startswith(s)), "")
        seen.setdefault(bare if whose else name, {})[whose] = curve / size
    for bare, sides in seen.items():
        yield Chart(bare, unit, {w or bare: c for w, c in sides.items()}, bands.get(bare + ending), spans)


def _plots(t: Array, charts: Iterable[Chart]) -> list[str]:
    return ["<div class='plots'>", *(f"<div>{draw_svg(t, chart)}</div>" for chart in charts), "</div>"]


def _stances(found: Tracked) -> list[tuple[float, float, str]]:
    """Spans of time in which each foot carries more than a twentieth of body weight."""
    weight, t, out = found.body.skeleton.mass * STANDING, found.course.time, []
    for k in range(2):
        on = found.ground.force[:, k, 2] > 0.05 * weight
        edge = np.flatnonzero(np.diff(np.concatenate([[False], on, [False]]).astype(int)))
        out += [(float(t[a]), float(t[b - 1]), COLOURS[k]) for a, b in zip(edge[::2], edge[1::2])]
    return out


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    top = "".join(f"<th>{escape(h)}</th>" for h in head)
    body = "".join(
        "<tr>" + "".join(f"<td{' class=n' if i else ''}>{escape(c)}</td>" for i, c in enumerate(row)) + "</tr>"
        for row in rows
    )
    return f"<table><tr>{top}</tr>{body}</table>"
