"""The space of breaths is the same table from one process and from two workers of a cluster."""

from vitruvian.door import sweep
from vitruvian.door.table import CLOCK

GRID = {"contraction": [0.5, 2.0], "period": [0.5], "seconds": 0.5}


def test_two_dask_workers_give_the_same_breaths(cluster):
    tables = [sweep("breath-space", **where, **GRID) for where in ({"processes": 1}, {"scheduler": cluster})]
    one, two = ([{k: v for k, v in row.items() if k != CLOCK} for row in t.rows] for t in tables)
    assert one == two
    assert one[0]["tidal_volume"] < one[1]["tidal_volume"]
