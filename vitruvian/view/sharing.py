"""A recording as one HTML file that plays in any browser, without Python and without the net.

The page is the viewer's own (`view/player`); the packs that a server would send lie inside it, deflated, in base 64.
Before that, blocks of 16-bit numbers are told as differences, from the same block a frame before where that has the
same length, else from the row before; triangle indices from the index before. Differences are folded (0, -1, 1, -2, …)
so that small ones are small numbers, and low bytes are put before high ones, which are mostly zero then.
"""

from __future__ import annotations

import base64
import zlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from vitruvian.errors import InputError
from vitruvian.view.camera import bounds_of
from vitruvian.view.drawing import Model, chosen_layers
from vitruvian.view.packing import STEPS, pack, pack_frame, pack_signals, pack_stage
from vitruvian.view.player import page
from vitruvian.view.render import film_frames
from vitruvian.world import Frame, Stage
from vitruvian.world.whole_file import whole_file

Array = np.ndarray
LOOKED_AT = 16  # frames measured to find what a run sweeps over
AS_IT_IS, FROM_BEFORE, INDICES, ROWS = 0, 1, 2, 3  # how a block is told


def write_page(
    recordings: Sequence[Any],
    out: str | Path,
    *,
    fps: float | None = None,
    layers: Iterable[str] | None = None,
    progress: Callable[[float, float], None] | None = None,
) -> Path:
    """Write one recording, or two to compare, as a page; `progress(done, total)` is called after each frame."""
    out = Path(out)
    if out.suffix.lower() not in (".html", ".htm"):
        raise InputError(f"{out.name}: a page ends in .html")
    if not 1 <= len(recordings) <= 2:
        raise InputError(f"a page shows one recording or two, not {len(recordings)}")
    if fps is not None and not 0.5 <= fps <= 240.0:
        raise InputError(f"a page needs between 0.5 and 240 frames per second, not {fps:g}")
    layers = None if layers is None else list(layers)
    data = []
    for r, recording in enumerate(recordings):
        packed = zlib.compress(_packed(recording, fps, layers, progress), 9)
        text = base64.b64encode(packed).decode()
        data.append(f'<script type="text/plain" id="recording-{r}">{text}</script>')
    with whole_file(out) as partial:
        partial.write_text(page("\n".join(data)), encoding="utf-8")
    return out


def _packed(recording: Any, fps: float | None, layers: list[str] | None, progress: Any) -> bytes:
    stage = _only(recording.stage, layers)
    time = np.asarray(recording.time, dtype=float)
    order = np.unique(film_frames(time, fps)[1])
    boxes = _boxes(stage, recording, order)
    about = getattr(recording, "attributes", {})
    settings = about.get("parameters")
    told = {
        "title": str(about.get("scene", "") or "vitruvian"),
        "settings": dict(settings) if isinstance(settings, dict) else {},
        "time": time[order].tolist(),
    }
    some = np.unique(np.linspace(0, len(order) - 1, min(len(order), LOOKED_AT)).round().astype(int))
    model = Model(stage)
    bounds = bounds_of(model.draw(recording.frame(int(order[i]))).points() for i in some)
    parts = [
        pack_stage(stage, bounds, recording.frame(int(order[0])), told),
        pack_signals(stage, time, recording.signals),
    ]
    before: list[bytes] = []
    for done, i in enumerate(order):
        frame = recording.frame(int(i))
        blocks = unpacked(pack_frame(stage, frame, boxes))
        kinds, coded = zip(
            *(
                _told(block, before[k] if before else b"", kind)
                for k, (block, kind) in enumerate(zip(blocks, _kinds(stage), strict=True))
            ),
            strict=True,
        )
        parts.append(pack([bytes(kinds), *coded]))
        before = blocks
        if progress is not None:
            progress(done + 1, len(order))
    return pack(parts)


def unpacked(data: bytes) -> list[bytes]:
    """The blocks of a pack."""
    count = int(np.frombuffer(data, "<u4", 1)[0])
    sizes = np.frombuffer(data, "<u4", count, 4)
    at = 4 + 4 * count
    at += -at % 8
    blocks = []
    for size in sizes.tolist():
        blocks.append(data[at : at + size])
        at += size + -size % 8
    return blocks


def _only(stage: Stage, layers: list[str] | None) -> Stage:
    chosen = chosen_layers(stage, layers)
    return replace(
        stage,
        meshes=tuple(part for part in stage.meshes if part.layer in chosen),
        surfaces=tuple(part for part in stage.surfaces if part.layer in chosen),
        lines=tuple(part for part in stage.lines if part.layer in chosen),
        points=tuple(part for part in stage.points if part.layer in chosen),
    )


def _boxes(stage: Stage, recording: Any, order: Array) -> dict[str, tuple[Array, Array]]:
    """The box of each part over the whole run, so that the same place is the same number in every frame."""
    low: dict[str, Array] = {}
    high: dict[str, Array] = {}
    for i in order:
        frame: Frame = recording.frame(int(i))
        places = {
            f"surface {s.name}": frame.surfaces[s.name].vertices for s in stage.surfaces if s.name in frame.surfaces
        }
        places |= {f"lines {s.name}": frame.lines[s.name].points for s in stage.lines if s.name in frame.lines}
        for name, at in places.items():
            if len(at):
                low[name] = np.minimum(low.get(name, np.inf), np.min(at, axis=0))
                high[name] = np.maximum(high.get(name, -np.inf), np.max(at, axis=0))
    return {
        name: (low[name].astype(np.float32), (np.maximum(high[name] - low[name], 1e-9) / STEPS).astype(np.float32))
        for name in low
    }


def _kinds(stage: Stage) -> list[int]:
    """How each block of a frame is told where it can be."""
    kinds = [AS_IT_IS]
    for surface in stage.surfaces:
        kinds += [ROWS, INDICES] if surface.faces is None else [FROM_BEFORE]
        kinds += [FROM_BEFORE] * bool(surface.value)
    for lines in stage.lines:
        kinds += [FROM_BEFORE] * (1 + bool(lines.value) + lines.pulls)
    return kinds + [ROWS] * len(stage.points)


def _told(block: bytes, before: bytes, kind: int) -> tuple[int, bytes]:
    if kind == FROM_BEFORE and len(before) != len(block):
        kind = AS_IT_IS
    if kind == AS_IT_IS or not block:
        return AS_IT_IS, block
    if kind == INDICES:
        numbers = np.frombuffer(block, "<u4").astype(np.int64)
        return kind, _folded(np.diff(numbers, prepend=0), 4)
    numbers = np.frombuffer(block, "<u2").astype(np.int64)
    change = numbers.copy()
    if kind == FROM_BEFORE:
        change -= np.frombuffer(before, "<u2")
    else:
        change[15:] -= numbers[12:-3]
    return kind, _folded((change + 2**15) % 2**16 - 2**15, 2)


def _folded(change: Array, width: int) -> bytes:
    """Differences as numbers from zero on, all low bytes first, then the next, and so on."""
    numbers = np.where(change < 0, -2 * change - 1, 2 * change)
    return b"".join((numbers >> 8 * b & 255).astype(np.uint8).tobytes() for b in range(width))
