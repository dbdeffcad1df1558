"""What a warning of the physics means for someone who runs a scene, and what to do about it on the command line.

The warning's own words, with its figures, follow; who uses the package as a library gets those alone.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from vitruvian.world import Scene


@contextmanager
def explained(scene: Scene, quality: str, given: Mapping[str, Any]) -> Iterator[None]:
    """Explains the warnings of a run of `scene` at `quality` with the settings `given`."""
    before = warnings.showwarning

    def tell(message: Warning | str, category: type[Warning], *rest: Any) -> None:
        if category.__name__ == "NarrowWarning":  # by its name: scenes without water need not import it
            message = f"{coarse_water(scene, quality, given)} ({message})"
        before(message, category, *rest)

    with warnings.catch_warnings():
        warnings.showwarning = tell  # type: ignore[assignment]  # takes more than it needs
        yield


def coarse_water(scene: Scene, quality: str, given: Mapping[str, Any]) -> str:
    """What cells that are too large mean, and the settings of the scene that make them smaller."""
    from vitruvian.world import scene_parameters
    from vitruvian.world.scene import QUALITIES

    chosen, ways = scene_parameters(scene, quality, given), []
    if chosen.get("patches") == "none":
        ways.append("`--set patches=hands` (small cells about the hands)")
    for name, way, sign in (("cell", "smaller", -1.0), ("cells", "larger", 1.0)):  # edge [m], or how many along a tank
        if name in given:
            ways.append(f"a {way} `--set {name}=`")
        elif name in chosen:
            presets = {q: scene.qualities.get(q, {}).get(name, chosen[name]) for q in QUALITIES}
            finer = [q for q in QUALITIES if sign * float(presets[q]) > sign * float(chosen[name])]
            ways += [f"`--quality {q}`" for q in finer[:1]]
    means = "the water's cells are large for thin parts of the body, so speeds and forces of this run are rough"
    return f"{means}; for better figures add {' or '.join(ways)}" if ways else means
