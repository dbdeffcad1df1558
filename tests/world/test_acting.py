"""Actions of someone who watches: taken between frames, written down, met again by a run that is resumed."""

import shutil

import numpy as np
import pytest
from toys import DoublePendulum

from vitruvian.errors import InputError
from vitruvian.world import Recording, World, run_world


class Kicked(DoublePendulum):
    actions = {"kick": "a knock on the upper rod"}  # noqa: RUF012

    def take(self, state, name, time):
        state.angles.v = state.angles.v + np.array([1.0 + time, 0.0])


class Hand:
    """Asks for actions at some of the frames that it sees."""

    paused = False

    def __init__(self, at):
        self.at, self.seen = at, 0

    def push(self, time, frame):
        self.seen += 1

    def asked(self):
        return ["kick"] if self.seen in self.at else []


def world():
    return World(Kicked(), frame_rate=50.0, substeps=2, seed=1)


def test_an_action_changes_the_run_and_is_written_down(tmp_path):
    run_world(world(), tmp_path / "plain.zarr", seconds=0.4)
    run_world(world(), tmp_path / "kicked.zarr", seconds=0.4, watcher=Hand({5, 9}))
    plain, kicked = (Recording.open(tmp_path / f"{name}.zarr") for name in ("plain", "kicked"))
    assert "actions" not in plain.attributes
    assert kicked.attributes["actions"] == [[8, "kick"], [16, "kick"]]
    differs = (plain.poses != kicked.poses).any(axis=(1, 2))
    assert not differs[:5].any()
    assert differs[5:].all()


def test_a_run_resumed_from_before_an_action_meets_it_again(tmp_path):
    whole, cut = tmp_path / "whole.zarr", tmp_path / "cut.zarr"
    run_world(world(), whole, seconds=0.6, watcher=Hand({8}), save_every=100)
    # killed at 0.4 s, after the action, with a checkpoint from before it: what was saved last is at 0.1 s
    run_world(world(), cut, seconds=0.1)
    early = tmp_path / "early"
    shutil.copytree(cut / "checkpoint", early)
    run_world(world(), cut, seconds=0.4, resume=True, watcher=Hand({2}))  # its second frame is the eighth
    assert Recording.open(cut).attributes["actions"] == [[14, "kick"]]
    shutil.rmtree(cut / "checkpoint")
    shutil.copytree(early, cut / "checkpoint")
    run_world(world(), cut, seconds=0.6, resume=True)
    one, other = Recording.open(whole), Recording.open(cut)
    assert len(one) == len(other) == 31
    assert one.poses.tobytes() == other.poses.tobytes()
    assert one.attributes["actions"] == other.attributes["actions"]
    with np.load(whole / "checkpoint/state.npz") as a, np.load(cut / "checkpoint/state.npz") as b:
        assert all(a[name].tobytes() == b[name].tobytes() for name in a.files)


def test_an_unknown_action_is_refused():
    w = world()
    w.start()
    with pytest.raises(InputError, match="no action 'push' here; there are: kick"):
        w.act("push")
    plain = World(DoublePendulum())
    plain.start()
    with pytest.raises(InputError, match="there are: none"):
        plain.act("kick")
