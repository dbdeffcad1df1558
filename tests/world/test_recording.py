import json
import shutil
from copy import deepcopy
from pathlib import Path

import numpy as np
import pytest
import zarr
from toys import DoublePendulum, make_world

from vitruvian.errors import InputError
from vitruvian.world import Frame, Mesh, Recorder, Recording, Signal, Stage, Surface, SurfaceFrame, run_world
from vitruvian.world.recorder import key

FRAMES = 41


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    path = tmp_path_factory.mktemp("recordings") / "toy.zarr"
    run_world(make_world(), path, seconds=0.8, scene="toy", parameters={"length": 2.0}, quality="draft")
    return path


@pytest.fixture
def copy(recorded, tmp_path):
    return Path(shutil.copytree(recorded, tmp_path / "copy.zarr"))


def frames_of_toy():
    world = make_world()
    frames = [deepcopy(world.observe())]
    for _ in range(FRAMES - 1):
        for _ in range(world.substeps):
            world.step()
        frames.append(deepcopy(world.observe()))
    return frames


def test_every_frame_comes_back_as_it_was_shown(recorded):
    recording = Recording.open(recorded)
    assert len(recording) == FRAMES
    assert np.array_equal(recording.time, np.arange(FRAMES) * 3 / 150.0)
    for i, shown in enumerate(frames_of_toy()):
        frame = recording.frame(i)
        assert np.array_equal(frame.poses, shown.poses)
        for name, value in shown.signals.items():
            assert np.array_equal(frame.signals[name], value)
        for name, surface in shown.surfaces.items():
            assert np.array_equal(frame.surfaces[name].vertices, surface.vertices.astype("f4"))
            assert np.array_equal(frame.surfaces[name].values, surface.values.astype("f4"))
            if surface.faces is not None:
                assert np.array_equal(frame.surfaces[name].faces, surface.faces)
        assert np.array_equal(frame.lines["rope"].points, shown.lines["rope"].points.astype("f4"))
        assert np.array_equal(frame.lines["rope"].values, shown.lines["rope"].values.astype("f4"))
        assert np.array_equal(frame.lines["rope"].force, shown.lines["rope"].force.astype("f4"))
        assert np.array_equal(frame.points["spray"], shown.points["spray"].astype("f4"))


def test_the_stage_comes_back_as_it_was_declared(recorded):
    declared, stage = DoublePendulum().stage(), Recording.open(recorded).stage
    assert stage.bodies == declared.bodies
    assert stage.joints == declared.joints
    assert stage.cameras == declared.cameras
    assert stage.points == declared.points
    assert stage.ground == declared.ground
    assert [s.unit for s in stage.signals] == ["rad", "J/kg"]
    assert stage.signals[0] == declared.signals[0]
    for kind, arrays in (("meshes", ("vertices", "faces")), ("surfaces", ("faces",)), ("lines", ("offsets", "radius"))):
        for mine, theirs in zip(getattr(stage, kind), getattr(declared, kind), strict=True):
            for name in type(mine).__dataclass_fields__:
                a, b = getattr(mine, name), getattr(theirs, name)
                assert np.allclose(a, b, rtol=1e-7) if name in arrays and b is not None else a == b


def test_zarr_alone_finds_poses_signals_with_units_and_what_made_them(recorded):
    store = zarr.open_group(recorded, mode="r")
    assert store.attrs["scene"] == "toy"
    assert store.attrs["parameters"] == {"length": 2.0}
    assert (store.attrs["quality"], store.attrs["seed"], store.attrs["frame_rate"]) == ("draft", 7, 50.0)
    assert store.attrs["layers"] == ["bones", "stand", "skin", "water", "muscles", "spray"]
    assert store["poses"].shape == (FRAMES, 2, 7)
    assert store["poses"].dtype == np.float64
    assert store["signals/angle"].attrs["unit"] == "rad"
    assert store["signals/angle"].attrs["components"] == ["upper", "lower"]
    assert store["surfaces/sheet/vertices"].dtype == np.float32
    offsets = store["surfaces/drops/vertex_offsets"][:]
    assert store["surfaces/drops/vertices"].shape == (offsets[-1], 3)
    assert list(store.members(max_depth=None))  # a warning about an unknown node would be an error here


def test_a_recording_being_written_is_read_up_to_its_last_flush(tmp_path):
    stage = Stage(signals=(Signal("x", "m"),))
    recorder = Recorder.create(tmp_path / "r", stage, {"frame_rate": 10.0})
    with pytest.raises(InputError, match="no frames yet"):
        Recording.open(tmp_path / "r")
    for i in range(30):
        recorder.append(i / 10, Frame(signals={"x": i}))
        if i == 19:
            recorder.flush()
    recording = Recording.open(tmp_path / "r")
    assert recording.signals["x"].tolist() == list(range(20))
    recorder.flush()
    assert len(Recording.open(tmp_path / "r")) == 30
    assert recording.poses.shape == (20, 0, 7)


def test_names_never_leave_their_folder(tmp_path):
    names = ("../../evil", "..", ".", "a/b", "zarr.json", "%2E", "ÄÖ ×", "c")
    assert len({key(name) for name in names}) == len(names)
    stage = Stage(signals=tuple(Signal(name, "m") for name in names))
    recorder = Recorder.create(tmp_path / "deep" / "r", stage, {"frame_rate": 10.0})
    recorder.append(0.0, Frame(signals={name: i for i, name in enumerate(names)}))
    recorder.flush()
    assert [entry.name for entry in (tmp_path / "deep").iterdir()] == ["r"]
    assert [entry.name for entry in tmp_path.iterdir()] == ["deep"]
    signals = Recording.open(tmp_path / "deep" / "r").signals
    assert [signals[name][0] for name in names] == list(range(len(names)))


def read_all(path):
    recording = Recording.open(path)
    for i in range(len(recording)):
        recording.frame(i)


def _damage_chunk(path):
    data = bytearray(path.read_bytes())
    data[-6] ^= 255
    path.write_bytes(data)


def _edit(path, change):
    meta = json.loads(path.read_text())
    change(meta)
    path.write_text(json.dumps(meta))


def _huge(meta):
    meta["shape"][0] = 10**15


def _rewrite(path, change):
    array = zarr.open_array(path, mode="r+")
    array[:] = change(array[:])


def _rechunk(path, chunks):
    array = zarr.open_array(path, mode="r")
    values, about = array[:], dict(array.attrs)
    shutil.rmtree(path)
    zarr.create_array(path, data=values, chunks=chunks, attributes=about)


GARBAGE = (
    *({"seconds": value} for value in ("abc", None, float("nan"), -1.0, [], True)),
    *({"seed": value} for value in (None, "x", -1, 1.5)),
    *({"parameters": value} for value in (None, [], {"length": None}, {"length": float("inf")})),
    *({"frame_rate": value} for value in (float("inf"), float("nan"), 0.0, "60", None)),
    *({"ground": value} for value in (float("nan"), "floor", float("-inf"))),
    *({"substeps": value} for value in (0, None, 1.5)),
    {"scene": None},
    {"quality": 3},
    {"version": {}},
)
DAMAGE = {
    "time": [
        lambda r: _damage_chunk(r / "time/c/0"),
        lambda r: _edit(r / "time/zarr.json", _huge),
        lambda r: _rewrite(r / "time", np.flip),
        lambda r: _rewrite(r / "time", lambda t: np.where(t > 0.5, np.nan, t)),
    ],
    "poses": [
        lambda r: _damage_chunk(r / "poses/c/0/0/0"),
        lambda r: (r / "poses/c/0/0/0").write_bytes(b""),
        lambda r: shutil.rmtree(r / "poses"),
        lambda r: shutil.rmtree(r / "poses/c"),
        lambda r: (r / "poses/c/0/0/0").unlink(),
        lambda r: _rewrite(r / "poses", lambda poses: np.where(poses == poses[5, 0, 0], np.nan, poses)),
        lambda r: _rechunk(r / "poses", (FRAMES, 1, 7)),
        lambda r: _edit(r / "poses/zarr.json", lambda m: m.update(shape=[FRAMES, 3, 7])),
        lambda r: _edit(r / "poses/zarr.json", lambda m: m["codecs"].append({"name": "pickle"})),
        lambda r: (r / "poses/zarr.json").write_text("{"),
    ],
    "signals/angle": [
        lambda r: (r / "signals/angle/c/0/0").unlink(),
        lambda r: _rechunk(r / "signals/angle", (FRAMES, 1)),
    ],
    "attributes": [
        lambda r: (r / "zarr.json").write_text("not json"),
        *(lambda r, about=about: _edit(r / "zarr.json", lambda m: m["attributes"].update(about)) for about in GARBAGE),
        lambda r: _edit(r / "zarr.json", lambda m: m["attributes"].pop("bodies")),
        lambda r: _edit(r / "zarr.json", lambda m: m["attributes"].update(frame_rate="fast")),
    ],
    "stage": [
        lambda r: _edit(r / "zarr.json", lambda m: m["attributes"].update(cameras=[{"name": 3}])),
        lambda r: _edit(r / "meshes/zarr.json", lambda m: m["attributes"]["meshes"][0].update(body="ghost")),
        lambda r: _rewrite(r / "meshes/faces", lambda faces: faces + 1000),
        lambda r: _rewrite(r / "meshes/vertex_offsets", np.flip),
        lambda r: _edit(r / "signals/angle/zarr.json", lambda m: m.update(attributes=[])),
    ],
    "drops": [
        lambda r: _rewrite(r / "surfaces/drops/vertex_offsets", np.flip),
        lambda r: _rewrite(r / "surfaces/drops/faces", lambda faces: faces - 5),
        lambda r: shutil.rmtree(r / "surfaces/drops/vertices/c"),
    ],
}


@pytest.mark.parametrize(("where", "which"), [(where, i) for where in DAMAGE for i in range(len(DAMAGE[where]))])
def test_damage_is_one_clear_line(copy, where, which):
    DAMAGE[where][which](copy)
    with pytest.raises(InputError, match="is damaged") as caught:
        read_all(copy)
    assert "\n" not in str(caught.value)
    assert str(copy) in str(caught.value)
    assert where == "stage" or where in str(caught.value)


def test_a_pose_that_is_not_finite_is_named_by_its_frame(copy):
    _rewrite(copy / "poses", lambda poses: np.where(np.arange(FRAMES)[:, None, None] == 17, np.nan, poses))
    with pytest.raises(InputError, match="poses: not finite at frame 17"):
        read_all(copy)


def test_a_signal_may_be_undefined(tmp_path):
    recorder = Recorder.create(tmp_path / "r", Stage(signals=(Signal("x", "m"),)), {"frame_rate": 10.0})
    for i, value in enumerate((1.0, np.nan, np.inf)):
        recorder.append(i / 10, Frame(signals={"x": value}))
    recorder.flush()
    assert np.array_equal(Recording.open(tmp_path / "r").signals["x"], [1.0, np.nan, np.inf], equal_nan=True)


def test_what_is_not_a_recording_is_said_so(tmp_path):
    with pytest.raises(InputError, match="does not exist"):
        Recording.open(tmp_path / "none")
    with pytest.raises(InputError, match="not a recording"):
        Recording.open(tmp_path)
    (tmp_path / "file").write_text("x")
    with pytest.raises(InputError, match="not a recording"):
        Recording.open(tmp_path / "file")
    zarr.create_group(tmp_path / "other")
    with pytest.raises(InputError, match="not a recording of vitruvian"):
        Recording.open(tmp_path / "other")


def test_a_frame_that_does_not_fit_the_stage_is_refused_by_name(tmp_path):
    stage = Stage(
        bodies=("a",), signals=(Signal("x", "m", components=("u", "v")),), surfaces=(Surface("s", None, layer="skin"),)
    )
    good = {
        "poses": np.eye(7)[3:4],
        "signals": {"x": np.zeros(2)},
        "surfaces": {"s": SurfaceFrame(np.zeros((3, 3)), np.array([[0, 1, 2]]))},
    }
    bad = [
        ("poses", {"poses": np.zeros((2, 7))}),
        ("signal x", {"signals": {"x": 1.0}}),
        ("signal x", {"signals": {}}),
        ("surface s", {"surfaces": {"s": SurfaceFrame(np.zeros((3, 3)))}}),
    ]
    recorder = Recorder.create(tmp_path / "r", stage, {"frame_rate": 1.0})
    for part, change in bad:
        with pytest.raises(InputError, match=part):
            recorder.append(0.0, Frame(**{**good, **change}))


@pytest.mark.parametrize(
    ("stage", "part"),
    [
        (Stage(bodies=("a", "a")), "a is used twice"),
        (Stage(meshes=(Mesh("m", "b", np.eye(3), np.array([[0, 1, 2]]), layer="bones"),)), "mesh m rides on b"),
        (Stage(meshes=(Mesh("m", "", np.eye(3), np.array([[0, 1, 3]]), layer="bones"),)), "mesh m: a face"),
        (Stage(meshes=(Mesh("m", "", np.eye(3) * np.nan, np.array([[0, 1, 2]]), layer="bones"),)), "mesh m: vertices"),
        (Stage(signals=(Signal("", "m"),)), "signals: a name"),
    ],
)
def test_a_stage_that_does_not_fit_itself_is_refused_by_name(tmp_path, stage, part):
    with pytest.raises(InputError, match=part):
        Recorder.create(tmp_path / "r", stage, {"frame_rate": 1.0})
    assert not (tmp_path / "r").exists()


def test_a_component_is_found_by_its_name(recorded):
    recording = Recording.open(recorded)
    assert np.array_equal(recording["angle.upper"], recording["angle"][:, 0])
    assert "angle.lower" in recording
    assert "angle.middle" not in recording
    with pytest.raises(KeyError, match=r"did you mean .*angle\.upper"):
        recording["angle.uper"]


def test_an_array_that_was_deleted_is_named(copy):
    shutil.rmtree(copy / "signals" / "angle")
    with pytest.raises(InputError, match=r"copy.zarr is damaged: signals/angle: it is missing$"):
        Recording.open(copy)


def test_a_signal_that_an_earlier_version_did_not_record_is_told_with_its_recording(recorded):
    recording = Recording.open(recorded)
    for ask in (recording.__getitem__, recording.signals.__getitem__, recording.signal):
        with pytest.raises(InputError, match=rf"^{recorded}: unknown signal 'work_by_part'; .*run the scene again"):
            ask("work_by_part")
    assert recording.signals.get("work_by_part") is None


def test_frames_are_counted_from_the_end_too(recorded):
    recording = Recording.open(recorded)
    assert np.array_equal(recording.frame(-1).poses, recording.poses[-1])
    for surface in recording.stage.surfaces:
        assert np.array_equal(
            recording.surface(surface.name, -1).vertices, recording.frame(-1).surfaces[surface.name].vertices
        )
    with pytest.raises(IndexError):
        recording.frame(len(recording))
