"""Systems side by side: everything that is seen is moved aside, signals keep apart, controls reach their lane."""

from dataclasses import dataclass

import numpy as np
import pytest

from vitruvian.anatomy import arm
from vitruvian.control import Controls
from vitruvian.errors import InputError
from vitruvian.mesh import box
from vitruvian.skeleton import Inertia, SkeletonBuilder, joints
from vitruvian.systems import (
    BodiesLayer,
    BodySystem,
    BonesSystem,
    Drawn,
    LanesController,
    LaneSignal,
    LanesSystem,
    LinesLayer,
    Measure,
    PointsLayer,
    SurfaceLayer,
    TankSystem,
)
from vitruvian.water import Tank
from vitruvian.world import Camera, Lines, LinesFrame, Mesh, Points, Signal, Surface, SurfaceFrame, World

FIRST, APART = np.array([0.5, 0.0, -1.0]), np.array([2.0, 3.0, 0.25])
RNG = np.random.default_rng(0)


@dataclass
class Place:
    x: np.ndarray


class Toy(Drawn):
    """One of everything that can be seen, at one place; it goes where its controls say."""

    def __init__(self):
        vertices, faces = box((1, 1, 1))
        pose = np.array([0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0])
        self.layers = (
            BodiesLayer(["rod"], lambda: [Mesh("rod", "rod", vertices, faces)], lambda now: pose + self._at(now, 4)),
            SurfaceLayer(Surface("sheet", faces), lambda now: SurfaceFrame(now.state.x + np.asarray(vertices))),
            LinesLayer(
                Lines("cord", np.array([0, 2]), np.ones(1)), lambda now: LinesFrame(np.stack([now.state.x] * 2))
            ),
            PointsLayer(Points("dust", 0.1), lambda now: now.state.x[None]),
        )
        self.measures = (
            Measure(Signal("place", "m", "where it is", ("x", "y", "z")), lambda now: now.state.x),
            Measure(Signal("asked", "", "whether it was told"), lambda now: now.controls is not None),
        )
        self.cameras = (Camera("front", (0, -3, 0), (0, 0, 0)),)
        self.box = np.asarray(vertices)

    @staticmethod
    def _at(now, more):
        return np.append(now.state.x, np.zeros(more))

    def start(self, rng):
        return Place(np.zeros(3))

    def step(self, state, controls, time, dt):
        if controls is not None:
            state.x = state.x + controls.root_force[3:]


class Says:
    """A controller that asks for the same each time."""

    def __init__(self, way):
        self.controls = Controls(root_force=np.append(np.zeros(3), way))

    def start(self, rng):
        return None

    def act(self, own, state, time, dt):
        return self.controls


def lanes(**options):
    return LanesSystem({"a": Toy(), "b": Toy(), "c": Toy()}, APART, first=FIRST, **options)


def test_everything_that_is_seen_is_moved_aside():
    system = lanes()
    state = system.start(RNG)
    system.step(state, [None, Says((1.0, 2.0, 3.0)).controls, None], 0.0, 0.1)
    frame = system.observe(state, None, 0.1)
    assert frame.poses.shape == (3, 7)
    for n, lane in enumerate("abc"):
        own = np.array([1.0, 2.0, 3.0]) if lane == "b" else np.zeros(3)
        at = own + FIRST + n * APART
        assert frame.poses[n] == pytest.approx([*at, 1.0, 0.0, 0.0, 0.0])
        assert frame.surfaces[f"{lane} sheet"].vertices == pytest.approx(system.systems["a"].box + at)
        assert frame.lines[f"{lane} cord"].points == pytest.approx(np.stack([at, at]))
        assert frame.points[f"{lane} dust"] == pytest.approx(at[None])
        assert frame.signals[f"{lane} place"] == pytest.approx(own)  # measured in the lane's own world
    assert state.lanes[1].x == pytest.approx([1.0, 2.0, 3.0])


def test_the_stage_names_what_frames_hold():
    system = lanes(cameras=[Camera("far", (0, -9, 0), (0, 0, 0))], ground=-2.0)
    stage, frame = system.stage(), system.observe(system.start(RNG), None, 0.0)
    assert stage.bodies == ("a rod", "b rod", "c rod")
    assert [(m.name, m.body) for m in stage.meshes] == [(b, b) for b in stage.bodies]
    for kind in ("surfaces", "lines", "points", "signals"):
        assert [x.name for x in getattr(stage, kind)] == list(getattr(frame, kind))
    assert [c.name for c in stage.cameras] == ["far"]
    assert stage.ground == -2.0
    assert [c.name for c in lanes().stage().cameras] == ["front"]


def test_light_lanes_leave_out_bodies_and_points_alone():
    system = lanes(light=True)
    stage, frame = system.stage(), system.observe(system.start(RNG), None, 0.0)
    assert stage.bodies == stage.meshes == stage.points == ()
    assert frame.poses.shape == (0, 7)
    assert not frame.points
    assert len(frame.lines) == len(frame.surfaces) == 3


def test_a_world_of_lanes_runs_with_and_without_controllers():
    world = World(lanes(), frame_rate=10.0)
    world.advance(0.3)
    assert world.observe().signals["b asked"] == 0.0
    led = World(lanes(), LanesController([Says((1.0, 0.0, 0.0)), None, Says((0.0, 2.0, 0.0))]), frame_rate=10.0)
    led.advance(0.3)
    assert [list(lane.x) for lane in led.state.lanes] == [[3.0, 0.0, 0.0], [0.0] * 3, [0.0, 6.0, 0.0]]
    assert [led.observe().signals[f"{lane} asked"] for lane in "abc"] == [1.0, 0.0, 1.0]


def test_wrong_numbers_and_names_are_told():
    system = lanes()
    state = system.start(RNG)
    with pytest.raises(InputError, match="3 lanes need as many controls, not 2"):
        system.step(state, [None, None], 0.0, 0.1)
    with pytest.raises(InputError, match="3 lanes need as many controls, not 4"):
        system.observe(state, [None] * 4, 0.0)
    with pytest.raises(InputError, match="calls two things the same"):
        lanes(naming="{name}")
    assert lanes(naming="{name} of {lane}").stage().bodies == ("rod of a", "rod of b", "rod of c")
    with pytest.raises(InputError, match="at least one"):
        LanesSystem({}, APART)


def test_signals_of_lanes_are_taken_from_each_lane_and_copied():
    kept = np.zeros(2)

    def flat(own):
        kept[:] = own["place"][:2]
        return kept

    far = LaneSignal(Signal("far", "m", "how far % went"), lambda own: np.linalg.norm(own["place"]))
    system = lanes(signals=[far, LaneSignal(Signal("flat", "m", "place of %", ("x", "y")), flat)])
    state = system.start(RNG)
    system.step(state, [Says((3.0, 4.0, 0.0)).controls, None, Says((0.0, 0.0, 2.0)).controls], 0.0, 0.1)
    first = system.stage().signals[:3]
    assert [(s.name, s.title) for s in first[:2]] == [("far_a", "how far a went"), ("flat_a", "place of a")]
    assert first[2].name == "far_b"
    signals = system.observe(state, None, 0.1).signals
    assert list(signals) == [s.name for s in system.stage().signals]
    assert [signals[f"far_{lane}"] for lane in "abc"] == [5.0, 0.0, 2.0]
    assert isinstance(signals["far_a"], float)
    assert list(signals["flat_a"]) == [3.0, 4.0]


def test_an_arm_a_rod_and_a_tank_side_by_side():
    builder = SkeletonBuilder()
    builder.add_bone("rod", joint=joints.Revolute((1, 0, 0)), inertia=Inertia.sphere(1.0, 0.1, com=(0, -0.5, 0)))
    body = arm("left")
    tank = TankSystem(Tank((8, 8, 8), 0.1, rest_level=0.4))
    parts = {"arm": BodySystem(body, drawn=False), "rod": BonesSystem(builder.build()), "tank": tank}
    world = World(LanesSystem(parts, (2.0, 0.0, 0.0)), frame_rate=50.0, substeps=4)
    world.advance(0.1)
    frame, alone = world.observe(), tank.observe(world.state.lanes[2], None, 0.1)
    assert frame.poses.shape == (body.n_bones + len(body.muscles.frames) + 1, 7)
    assert frame.poses[-1, :3] == pytest.approx([2.0, 0.0, 0.0])
    assert world.state.lanes[1].v[0] != 0.0
    assert frame.signals["tank volume_error"] == pytest.approx(0.0, abs=1e-6)
    aside = np.array([4.0, 0.0, 0.0])
    assert frame.lines["tank tank"].points == pytest.approx(alone.lines["tank"].points + aside)
    assert "arm muscles" in frame.lines


def test_bodies_in_lanes_keep_their_joints_and_forces():
    body = arm("left")
    system = LanesSystem({lane: BodySystem(body, drawn=False) for lane in "ab"}, APART)
    stage, frame = system.stage(), system.observe(system.start(RNG), None, 0.0)
    joint = {j.body: j for j in stage.joints}
    assert set(joint) == set(stage.bodies)
    child = body.skeleton.names[1]
    one, other = (joint[next(b for b in stage.bodies if b.startswith(lane) and child in b)] for lane in "ab")
    assert one.parent != other.parent
    assert {one.parent, other.parent} <= set(stage.bodies)
    for lines in stage.lines:
        assert lines.pulls
        assert frame.lines[lines.name].force.shape == lines.radius.shape
