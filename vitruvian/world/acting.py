"""Actions: what someone who watches a run does to it, such as a shove from a button of the page.

A simulation that can be meddled with has `actions`, names with a title each, and `take(state, name, time)`, which
changes its state. They are taken between frames. Each is written down in the recording at once, as (step, name), so
that a run which is killed and resumed from before it meets it again at the same step and gives the same bits; and so
that a recording tells that it was meddled with (attribute `actions`).
"""

from __future__ import annotations

from typing import Any

from vitruvian.world.recorder import Recorder
from vitruvian.world.recording import Recording
from vitruvian.world.series import write_group
from vitruvian.world.world import World


class Acts:
    """Actions of one run."""

    def __init__(self, world: World, recorder: Recorder, *, resumed: bool) -> None:
        self.world, self.recorder = world, recorder
        known = Recording.open(recorder.path).attributes.get("actions", []) if resumed else []
        self.log = [(int(step), str(name)) for step, name in known]

    def take(self, watcher: Any) -> None:
        """Those that were taken at this step before, then what the watcher asks for."""
        now = self.world.step_index
        for step, name in self.log:
            if step == now:
                self.world.act(name)
        asked = list(getattr(watcher, "asked", list)())
        for name in asked:
            self.world.act(name)
            self.log.append((now, name))
        if asked:
            path = self.recorder.path
            write_group(path, {**Recording.open(path).attributes, "actions": [list(one) for one in self.log]})
