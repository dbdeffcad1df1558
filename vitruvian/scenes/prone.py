"""He turns onto his front from random starts, without a stroke to follow: joints by tasks (Si 2013, figure 6.10).

The harder half: with air in the chest he has to work against 5 to 20 N m of buoyancy.

    vitruvian run prone --set water=still --set starts=20       a force law in still water
"""

from __future__ import annotations

from vitruvian.scenes._tasks import turn_scene

scene = turn_scene("prone", False, "turning onto the front by tasks, from random starts")
