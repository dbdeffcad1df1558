"""How fast the strokes carry: their scenes as they stand, draft quality, by muscles in simulated water."""

from __future__ import annotations

from vitruvian.verify._scenes import scene_metrics
from vitruvian.verify.book import Finding

FASTEST = 2.5  # [m/s] that anybody swims


def speed(stroke: str, least: float) -> Finding:
    """Mean speed over whole strokes after the first."""
    metrics = scene_metrics(stroke)
    detail = (
        f"{metrics['stroke_length']:.2f} m a stroke, {metrics['power_w']:.0f} W, {metrics['power_into_water_w']:.0f} W "
        f"into the water, Froude efficiency {metrics['froude']:.3f}; the scene as it stands, draft quality"
    )
    return Finding.within(metrics["mean_speed"], least, FASTEST, "m/s", detail)
