"""He turns onto his back from random starts, without a stroke to follow: joints by tasks (Si 2013, figure 6.9).

Buoyancy turns a body now and then by itself: the lane beside holds the pose that it starts with.

    vitruvian run supine --set water=still --set starts=20       a force law in still water
    vitruvian run supine --set actuation=muscles
"""

from __future__ import annotations

from vitruvian.scenes._tasks import turn_scene

scene = turn_scene("supine", True, "turning onto the back by tasks, from random starts")
