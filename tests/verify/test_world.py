"""The claim on resumed scenes sees what is not in the state, and lets pass what is."""

from __future__ import annotations

import pytest

from vitruvian.errors import InputError
from vitruvian.verify.world import _differs, _DoublePendulum
from vitruvian.world import Report, Scene, World


class Forgetful(_DoublePendulum):
    """Counts its steps in itself, where no checkpoint finds the count, and is pushed from the seventh frame on."""

    steps = 0

    def step(self, state, controls, time, dt):
        super().step(state, controls, time, dt)
        self.steps += 1
        if self.steps > 24:
            state.v = state.v + 1e-15


class Refusing(_DoublePendulum):
    """Cannot go on from a checkpoint."""

    def step(self, state, controls, time, dt):
        if time > 0.0 and not hasattr(self, "begun"):
            raise InputError("it cannot go on")
        self.begun = True
        super().step(state, controls, time, dt)


@pytest.mark.parametrize(("kind", "told"), [(_DoublePendulum, None), (Forgetful, ""), (Refusing, " (it cannot go on)")])
def test_a_scene_whose_state_is_not_whole_is_seen(kind, told):
    def build(parameters):
        return World(kind(), frame_rate=60.0, substeps=4)

    scene = Scene("toy", "", "", 1.0, build, lambda recording, parameters: Report())
    assert _differs(scene) == told
