"""Recordings of random stages and frames come back as they were written, in one go or in pieces."""

import tempfile
from pathlib import Path

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from vitruvian.world import (
    Frame,
    Lines,
    LinesFrame,
    Mesh,
    Points,
    Recorder,
    Recording,
    Signal,
    Stage,
    Surface,
    SurfaceFrame,
)

names = st.text(st.characters(exclude_categories=("Cs",)), min_size=1, max_size=12).filter(
    lambda name: len(name.encode()) <= 80
)
colours = st.tuples(*[st.floats(0.0, 1.0)] * 3)
sets_of_names = st.lists(names, max_size=3, unique=True)


@st.composite
def stages(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    bodies = tuple(draw(sets_of_names))
    faces = rng.integers(0, 5, (4, 3))
    meshes = tuple(
        Mesh(
            n, draw(st.sampled_from(["", *bodies])), rng.normal(size=(5, 3)), faces, colour=draw(colours), layer="bones"
        )
        for n in draw(sets_of_names)
    )
    surfaces = tuple(
        Surface(n, faces if draw(st.booleans()) else None, value=draw(st.sampled_from(["", "speed"])), layer="skin")
        for n in draw(sets_of_names)
    )
    lines = []
    for n in draw(sets_of_names):
        offsets = np.cumsum([0, *draw(st.lists(st.integers(2, 4), min_size=1, max_size=3))])
        value = draw(st.sampled_from(["", "activation"]))
        lines.append(Lines(n, offsets, rng.uniform(0.001, 0.1, len(offsets) - 1), value=value, layer="muscles"))
    signals = tuple(
        Signal(n, draw(st.sampled_from(["m", "", "N m"])), draw(names), tuple(draw(sets_of_names)))
        for n in draw(sets_of_names)
    )
    points = tuple(Points(n, 0.01) for n in draw(sets_of_names))
    ground = draw(st.none() | st.floats(-10.0, 10.0))
    return Stage(bodies, meshes, surfaces, tuple(lines), points, signals, ground=ground)


def some(rng, *shape):
    """Finite numbers of every size that float32 holds."""
    return rng.normal(size=shape) * 10.0 ** rng.integers(-30, 30, shape)


def places(rng, *shape):
    """Positions of every size that a recording holds."""
    return rng.uniform(-1.0, 1.0, shape) * 10.0 ** rng.integers(-30, 6, shape)


def poses(rng, n):
    turns = rng.normal(size=(n, 4))
    return np.concatenate([places(rng, n, 3), turns / np.linalg.norm(turns, axis=1)[:, None]], axis=1)


def frame_of(stage, rng):
    surfaces, lines = {}, {}
    for surface in stage.surfaces:
        n = 5 if surface.faces is not None else int(rng.integers(0, 6))
        faces = (
            None if surface.faces is not None else rng.integers(0, max(n, 1), (int(rng.integers(0, 4)) * (n > 0), 3))
        )
        surfaces[surface.name] = SurfaceFrame(places(rng, n, 3), faces, some(rng, n) if surface.value else None)
    for line in stage.lines:
        values = some(rng, len(line.radius)) if line.value else None
        lines[line.name] = LinesFrame(places(rng, line.offsets[-1], 3), values)
    signals = {s.name: some(rng, len(s.components)) if s.components else float(some(rng)) for s in stage.signals}
    clouds = {p.name: places(rng, int(rng.integers(0, 5)), 3) for p in stage.points}
    return Frame(poses(rng, len(stage.bodies)), signals, surfaces, lines, clouds)


def same(read, written):
    """Whether what was read is what was written, to the bits of float32."""
    if read is None or written is None:
        return read is None and written is None
    read, written = np.asarray(read), np.asarray(written)
    return np.array_equal(read, written if written.dtype.kind == "i" else written.astype("f4"))


@settings(max_examples=12)
@given(stages(), st.integers(0, 2**32 - 1), st.integers(1, 5), st.integers(0, 4))
def test_what_is_read_back_is_what_was_written(stage, seed, count, cut):
    rng = np.random.default_rng(seed)
    frames = [frame_of(stage, rng) for _ in range(count)]
    times = np.cumsum(rng.uniform(0.001, 1.0, count))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "recording"
        recorder = Recorder.create(path, stage, {"frame_rate": 10.0})
        for i, (time, frame) in enumerate(zip(times, frames)):
            if 0 < i == cut:  # stopped here and gone on later
                recorder.flush()
                recorder = Recorder.reopen(path, stage, i)
            recorder.append(time, frame)
        recorder.flush()
        recording = Recording.open(path)
        check(recording, stage, times, frames)


def check(recording, stage, times, frames):
    assert np.array_equal(recording.time, times)
    back = recording.stage
    assert (back.bodies, back.points, back.signals, back.ground) == (
        stage.bodies,
        stage.points,
        stage.signals,
        stage.ground,
    )
    for kind, arrays in (("meshes", ("vertices", "faces")), ("surfaces", ("faces",)), ("lines", ("offsets", "radius"))):
        for mine, theirs in zip(getattr(back, kind), getattr(stage, kind), strict=True):
            for field in type(mine).__dataclass_fields__:
                a, b = getattr(mine, field), getattr(theirs, field)
                assert same(a, b) if field in arrays else a == b
    for i, written in enumerate(frames):
        read = recording.frame(i)
        assert np.array_equal(read.poses, written.poses)
        assert all(np.array_equal(read.signals[n], value) for n, value in written.signals.items())
        for n, surface in written.surfaces.items():
            assert same(read.surfaces[n].vertices, surface.vertices)
            assert same(read.surfaces[n].values, surface.values)
            assert surface.faces is None or same(read.surfaces[n].faces, surface.faces)
        for n, line in written.lines.items():
            assert same(read.lines[n].points, line.points)
            assert same(read.lines[n].values, line.values)
        assert all(same(read.points[n], cloud) for n, cloud in written.points.items())
