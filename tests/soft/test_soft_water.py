"""A soft body and water: what the water gives is what the body gets."""

import numpy as np
import pytest

from vitruvian.anatomy.characters import character
from vitruvian.mesh import sphere
from vitruvian.scenes import find
from vitruvian.systems.wet_character import WetCharacterSystem, volume_below
from vitruvian.water import Tank
from vitruvian.world import scene_parameters


@pytest.fixture(scope="module")
def wet():
    tank = Tank.of_size((2.4, 2.4, 2.0), 0.2, origin=(-1.2, -1.2, -0.9), rest_level=0.0)
    return WetCharacterSystem(character("mascot"), tank, character("mascot").bind_q)


def test_impulses_of_the_water_are_momentum_of_the_body(wet):
    body = wet.body
    state = body.start(wet.q0, 0.1 * np.random.default_rng(0).normal(size=wet.skeleton.n_v))
    wading = wet.wet.step(wet.q0, np.zeros(wet.skeleton.n_v))
    links, before, v = wading.links(state), body.momentum(state), state.v.copy()
    impulses = np.random.default_rng(1).normal(size=(wet.skeleton.n_bones, 6))
    wading.receive(state, impulses)
    gained = body.momentum(state) - before
    np.testing.assert_allclose(
        gained[3:], impulses[:, 3:].sum(axis=0), atol=0.02 * np.abs(impulses[:, 3:].sum(axis=0)).max()
    )
    moment = (impulses[:, :3] + np.cross(links.origins - body.centre(state), impulses[:, 3:])).sum(axis=0)
    np.testing.assert_allclose(gained[:3], moment, atol=0.1 * np.abs(moment).max())
    # and the links yield as the pressure was told that they would
    told = (links.mobility @ impulses.ravel()).reshape(-1, 6)
    np.testing.assert_allclose(wading.links(state).twists - links.twists, told, atol=1e-9 + 1e-9 * np.abs(told).max())
    assert np.abs(state.v - v).max() > 1e-3


def test_the_skin_moves_as_its_nodes_do(wet):
    state = wet.body.start(wet.q0, np.random.default_rng(2).normal(size=wet.skeleton.n_v))
    state.u += np.random.default_rng(3).normal(size=state.u.shape)
    wading = wet.wet.step(wet.q0, np.zeros(wet.skeleton.n_v))
    links, (skin,) = wading.links(state), wading.skins(state)
    at, t = skin.vertices[wet.faces], links.twists[skin.shape.links][:, None]
    carried = t[..., 3:] + np.cross(
        np.broadcast_to(t[..., :3], at.shape), at - links.origins[skin.shape.links][:, None]
    )
    np.testing.assert_allclose(carried + skin.drift, wet.character.skin.positions(state.u)[wet.faces], atol=1e-9)


@pytest.mark.parametrize("level", [-0.6, -0.2, 0.0, 0.3, 0.6])
def test_volume_below_a_level(level):
    vertices, faces = sphere(0.5, subdivisions=4)
    d = min(max(level + 0.5, 0.0), 1.0)
    assert volume_below(np.asarray(vertices), faces, level) == pytest.approx(np.pi * d * d * (1.5 - d) / 3.0, abs=2e-3)


def test_a_character_in_water_gets_what_the_water_gives():
    """Momentum: weight and the water's force over time."""
    scene = find("soft-float")
    world = scene.build(scene_parameters(scene, "draft", {"cells": 12, "lift": 0.0}))
    world.start()
    dt = 1.0 / 150.0
    given, body, mass = np.zeros(3), world.simulation.body, world.simulation.character.mass
    before, count = body.momentum(world.state)[3:], 0
    while world.time < 0.2 - 1e-9:
        world.advance(dt)
        given += dt * world.state.water_force
        count += 1
    gained = body.momentum(world.state)[3:] - before + np.array([0.0, 0.0, 9.81 * mass * count * dt])
    assert given[2] > 0.3 * 9.81 * mass * 0.2
    np.testing.assert_allclose(gained, given, atol=0.03 * given[2])
    signals = world.observe().signals
    assert abs(signals["volume_error"]) < 1e-3
    assert 0.0 < signals["displaced"] < 0.18
    assert signals["inverted"] == 0.0
