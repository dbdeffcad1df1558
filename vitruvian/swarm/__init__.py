"""Many runs: one function over many items, in this process, on all cores, or on a Dask cluster.

    map             results in the order of the items, the same whatever the engine; resumable with `keep`
    workers         worker processes or a cluster for several maps, one after the other
    check_engine    an error for processes or a scheduler that cannot be, before other work is begun

What is inside: `mapping` hands items out and takes results in, `cores` and `cluster` are the engines, `work` is what
happens in a worker, `keeping` stores finished results. Nothing here knows what the function does.
"""

from vitruvian.swarm.mapping import check_engine, map, workers

__all__ = ["check_engine", "map", "workers"]
