"""Make the table of docs/soft.md: how often a search succeeds, with and without inverse dynamics and time scaling.

.venv/bin/python docs/make_soft.py success.json          # goes on from what the file has
.venv/bin/python docs/make_soft.py success.json 3        # with seeds 1 to 3 only

A search has succeeded when it came to the end of the motion and no window's cost is above `MOST`. Flesh is rigid.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from vitruvian.anatomy.characters import character
from vitruvian.control.search.actors import RigidActor
from vitruvian.control.search.inverse import aimed
from vitruvian.control.search.samples import Trying, search
from vitruvian.exchange import read_trial
from vitruvian.measured.retarget import ready

MOTIONS = {  # who, which clip, from when, how long [s], and how it is put on the character
    "mascot's run": ("mascot", "run", 0.3, 0.8, {"loop": True}),
    "panda's kick": ("panda", "kick", 0.0, 1.2, {"slower": 0.8}),
    "mascot's leap with a kick": ("mascot", "spinkick", 0.0, 1.0, {"slower": 0.8}),
    "baby's roll": ("baby", "roll", 0.5, 1.2, {"rolling": True, "tuck": 1.2, "even": True}),
}
WAYS = {  # inverse dynamics, half range of the time factor
    "captured, own time": (False, 0.0),
    "captured, time sampled": (False, 0.2),
    "inverse dynamics, own time": (True, 0.0),
    "inverse dynamics, time sampled": (True, 0.2),
}
SEEDS, SAMPLES, MOST = 10, 120, 12.0


def cost(motion: str, way: str, seed: int) -> float:
    """The largest cost of a window; infinite if the search gave up."""
    name, clip, start, seconds, how = MOTIONS[motion]
    inverse, scaling = WAYS[way]
    who = character(name)
    reference = ready(read_trial(clip), who, **how)
    actor = RigidActor(who)
    trying = Trying(
        samples=SAMPLES, kept=SAMPLES // 6, time_scaling=scaling, seed=seed, even=bool(how.get("even", False))
    )
    base = aimed(actor, reference, seconds, trying.window, start) if inverse else None
    found = search(actor, reference, seconds, trying, start=start, base=base)
    whole = len(found.costs) >= round(seconds / trying.window)
    return float(found.costs.max()) if whole else float("inf")


def main(path: Path, seeds: int) -> None:
    known = json.loads(path.read_text()) if path.exists() else {}
    for seed in range(1, seeds + 1):
        for motion in MOTIONS:
            for way in WAYS:
                key = f"{motion} | {way} | {seed}"
                if key not in known:
                    known[key] = cost(motion, way, seed)
                    path.write_text(json.dumps(known, indent=0))
    print("| | " + " | ".join(WAYS) + " |")
    print("| --- |" + " --- |" * len(WAYS))
    for motion in MOTIONS:
        each = {way: [known[f"{motion} | {way} | {seed}"] for seed in range(1, seeds + 1)] for way in WAYS}
        cells = (f"{sum(c <= MOST for c in costs)} of {seeds}" for costs in each.values())
        print(f"| {motion} | " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else SEEDS)
