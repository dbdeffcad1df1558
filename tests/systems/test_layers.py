"""What is seen of a system: layers in their order, measures beside them, and the colours of tissue."""

import numpy as np
import pytest

from vitruvian.flesh import box_lattice, build_flesh, preset, rest_state, sample_muscles
from vitruvian.mesh import box
from vitruvian.systems import BodiesLayer, Drawn, LinesLayer, Measure, PointsLayer, SurfaceLayer
from vitruvian.systems.layers import COLOURS, as_poses, tissue_surface, tissue_values
from vitruvian.world import Camera, Lines, LinesFrame, Mesh, Points, Signal, Surface, SurfaceFrame

VERTICES, FACES = box((1, 1, 1))


class Shown(Drawn):
    def __init__(self):
        one, two = np.arange(14.0).reshape(2, 7), 100.0 + np.arange(7.0)
        self.layers = (
            BodiesLayer(["a", "b"], lambda: [Mesh("a", "a", VERTICES, FACES)], lambda now: one),
            PointsLayer(Points("spray", 0.1), lambda now: [[now.time, 0.0, 0.0]]),
            SurfaceLayer(Surface("first", FACES), lambda now: SurfaceFrame(np.asarray(VERTICES))),
            BodiesLayer(["c"], lambda: [Mesh("c", "c", VERTICES, FACES)], lambda now: two),
            SurfaceLayer(Surface("second", FACES), lambda now: SurfaceFrame(2.0 * np.asarray(VERTICES))),
            LinesLayer(Lines("cord", np.array([0, 2]), np.ones(1)), lambda now: LinesFrame(np.full((2, 3), now.time))),
        )
        self.measures = (Measure(Signal("time", "s"), lambda now: now.time),)
        self.cameras, self.ground = (Camera("front", (0, -3, 0), (0, 0, 0)),), -0.5


def test_layers_are_put_together_in_their_order():
    stage, frame = Shown().stage(), Shown().observe(None, None, 2.0)
    assert stage.bodies == ("a", "b", "c")
    assert [m.body for m in stage.meshes] == ["a", "c"]
    assert [s.name for s in stage.surfaces] == list(frame.surfaces) == ["first", "second"]
    assert [s.name for s in stage.lines] == list(frame.lines) == ["cord"]
    assert [s.name for s in stage.points] == list(frame.points) == ["spray"]
    assert [s.name for s in stage.signals] == list(frame.signals) == ["time"]
    assert [c.name for c in stage.cameras] == ["front"]
    assert stage.ground == -0.5
    assert np.array_equal(frame.poses, [*np.arange(14.0).reshape(2, 7), 100.0 + np.arange(7.0)])
    assert frame.surfaces["second"].vertices == pytest.approx(2.0 * frame.surfaces["first"].vertices)
    assert frame.lines["cord"].points == pytest.approx(np.full((2, 3), 2.0))
    assert frame.points["spray"] == pytest.approx(np.array([[2.0, 0.0, 0.0]]))
    assert frame.signals == {"time": 2.0}


def test_a_system_without_layers_is_an_empty_frame():
    frame = Drawn().observe(None, None, 0.0)
    assert frame.poses.shape == (0, 7)
    assert not any((frame.signals, frame.surfaces, frame.lines, frame.points))


def test_poses_are_positions_and_quaternions_with_the_scalar_first():
    turned = np.eye(4)
    turned[:3, :3], turned[:3, 3] = [[0, -1, 0], [1, 0, 0], [0, 0, 1]], (1.0, 2.0, 3.0)
    half = np.sqrt(0.5)
    assert as_poses(turned[None]) == pytest.approx(np.array([[1.0, 2.0, 3.0, half, 0.0, 0.0, half]]))


# --- colours of tissue ---------------------------------------------------------------------------------------------


def block():
    lattice = box_lattice((2, 2, 2), 0.05)
    return build_flesh(lattice, preset("soft"))


def test_tissue_without_a_colour_has_no_values():
    model = block()
    assert tissue_values(model, rest_state(model), "none", None) is None


def test_stretched_tissue_is_coloured_by_its_strain():
    model = block()
    flesh = rest_state(model)
    assert tissue_values(model, flesh, "strain", None) == pytest.approx(np.zeros(len(flesh.x)), abs=1e-12)
    flesh.x[:, 0] *= 1.2
    assert tissue_values(model, flesh, "strain", None) == pytest.approx(np.full(len(flesh.x), 0.5 * (1.2**2 - 1.0)))


def test_tissue_under_pressure_is_coloured_in_kilopascals():
    model = block()
    flesh = rest_state(model)
    rest = tissue_values(model, flesh, "pressure", None)
    assert rest == pytest.approx(np.zeros(len(flesh.x)), abs=1e-9)
    flesh.pressure -= 5000.0  # the state's is a tension [Pa]
    assert tissue_values(model, flesh, "pressure", None) == pytest.approx(np.full(len(flesh.x), 5.0))


def test_tissue_is_coloured_by_the_activation_of_its_muscles():
    """Two muscles fill a half each; the nodes between them show the mean."""
    lattice, up = box_lattice((2, 2, 2), 0.05), np.array([0.0, 0.0, 1.0])
    halves = [
        ("left", lambda p: (p[:, 0] < 0.05, np.broadcast_to(up, p.shape))),
        ("right", lambda p: (p[:, 0] > 0.05, np.broadcast_to(up, p.shape))),
    ]
    model = build_flesh(lattice, preset("soft"), muscles=sample_muscles(lattice, halves))
    values = tissue_values(model, rest_state(model), "activation", np.array([0.2, 0.8]))
    expected = np.interp(lattice.nodes[:, 0], [0.0, 0.05, 0.1], [0.2, 0.5, 0.8])
    assert values == pytest.approx(expected)
    bare = block()
    assert not tissue_values(bare, rest_state(bare), "activation", None).any()


def test_colours_have_scales():
    plain = Surface("skin", FACES)
    assert set(COLOURS) == {"none", "strain", "pressure", "activation"}
    assert tissue_surface(plain, "strain").value_range == (0.0, 0.5)
    assert tissue_surface(plain, "pressure", 20.0).value_range == (-20.0, 20.0)
    assert tissue_surface(plain, "activation").value_range == (0.0, 1.0)
    named = tissue_surface(plain, "pressure")
    assert (named.value, named.unit) == ("pressure", "kPa")
