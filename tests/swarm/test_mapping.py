"""One function over many items: the same list from every engine, whatever dies on the way."""

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time

import numba
import numpy as np
import psutil
import pytest

from vitruvian import swarm
from vitruvian.errors import InputError, RunFailed

LOCAL = [1, 2]
ENGINES = [*LOCAL, "cluster"]


@pytest.fixture(params=ENGINES, ids=["here", "cores", "dask"])
def engine(request):
    """Where to work, as options of `map`."""
    if request.param == "cluster":
        return {"scheduler": request.getfixturevalue("cluster")}
    return {"processes": request.param}


@pytest.fixture(params=[2, "cluster"], ids=["cores", "dask"])
def workers(request):
    """The engines whose workers are processes that can die."""
    if request.param == "cluster":
        return {"scheduler": request.getfixturevalue("cluster")}
    return {"processes": request.param}


def marks(folder):
    """How often each item was begun."""
    counts = {}
    for path in folder.iterdir():
        item = int(path.name.split("-")[0])
        counts[item] = counts.get(item, 0) + 1
    return counts


def marking(folder, then):
    """A function that leaves a mark for each call and goes on with `then(item, calls before)`."""

    def function(item):
        import os
        import uuid

        before = sum(name.startswith(f"{item}-") for name in os.listdir(folder))
        (folder / f"{item}-{uuid.uuid4()}").touch()
        return then(item, before)

    return function


def test_results_come_in_the_order_of_the_items(engine):
    def slow_first(item):
        time.sleep(0.3 if item == 0 else 0.0)
        return {"square": item * item, "pair": (item, 0.1 * item)}

    assert swarm.map(slow_first, range(7), **engine) == [{"square": k * k, "pair": (k, 0.1 * k)} for k in range(7)]


def test_arrays_keep_their_bits_in_every_engine(engine):
    def solve(seed):
        rng = np.random.default_rng(seed)
        matrix = rng.standard_normal((60, 60))
        return np.linalg.solve(matrix @ matrix.T + np.eye(60), rng.standard_normal(60))

    found = swarm.map(solve, range(4), **engine)
    assert [x.tobytes() for x in found] == [solve(seed).tobytes() for seed in range(4)]


def test_no_items_no_work(engine):
    told = []
    assert swarm.map(abs, [], progress=lambda *now: told.append(now), **engine) == []
    assert told == [(0, 0)]


def test_progress_is_told_at_the_start_and_after_each_item(engine):
    told = []
    swarm.map(abs, [1, -2, 3], progress=lambda *now: told.append(now), **engine)
    assert told == [(0, 3), (1, 3), (2, 3), (3, 3)]


def test_a_function_cannot_change_the_items_of_its_caller(engine):
    items = [[1], [2]]

    def spoil(item):
        item.append(0)
        return sum(item)

    assert swarm.map(spoil, items, **engine) == [1, 2]
    assert items == [[1], [2]]


def test_the_first_item_that_fails_is_named(engine):
    def fail(item):
        if item["n"] >= 2:
            raise ValueError(f"no {item['n']}")
        return item["n"]

    with pytest.raises(RunFailed, match=r"item 2, \{'n': 2\}: ValueError: no 2") as raised:
        swarm.map(fail, [{"n": n} for n in range(6)], **engine)
    assert "in fail" in "".join(raised.value.__notes__)


def test_errors_that_cannot_travel_are_told_all_the_same(engine):
    def fail(item):
        class Odd(Exception):
            def __init__(self, a, b):
                super().__init__(f"{a}{b}")
                self.lock = threading.Lock()

        raise Odd("x", "y")

    with pytest.raises(RunFailed, match="item 0, 1: Odd: xy"):
        swarm.map(fail, [1], **engine)


def test_what_cannot_travel_is_refused_before_anything_runs(engine, tmp_path):
    lock = threading.Lock()
    with pytest.raises(InputError, match="the function cannot be sent"):
        swarm.map(lambda item: lock, [1], **engine)
    function = marking(tmp_path, lambda item, before: item)
    with pytest.raises(InputError, match=r"item 1, .*cannot be sent"):
        swarm.map(function, [0, lock], **engine)
    assert marks(tmp_path) == {}
    with pytest.raises(RunFailed, match="item 0, 1: TypeError: cannot pickle"):
        swarm.map(lambda item: threading.Lock(), [1], **engine)


def test_workers_keep_to_one_thread(workers):
    def threads(item):
        import os

        import numba

        return numba.get_num_threads(), os.environ.get("OPENBLAS_NUM_THREADS"), os.environ.get("OMP_NUM_THREADS")

    assert set(swarm.map(threads, range(3), **workers)) == {(1, "1", "1")}


def test_this_process_keeps_its_threads():
    before = numba.get_num_threads()
    assert swarm.map(lambda item: numba.get_num_threads(), [0], processes=1) == [before]


def test_a_worker_that_is_killed_costs_the_item_it_had_in_hand(workers, tmp_path):
    def once_deadly(item, before):
        if item == 3 and before == 0:
            time.sleep(0.5)  # for results on their way, which Dask would lose with the worker
            os.kill(os.getpid(), signal.SIGKILL)
        time.sleep(0.1)
        return -item

    assert swarm.map(marking(tmp_path, once_deadly), range(10), **workers) == [-item for item in range(10)]
    assert marks(tmp_path) == {item: 2 if item == 3 else 1 for item in range(10)}


def test_a_worker_killed_from_outside(tmp_path):
    def kill_one(done, total):
        if done == 2:
            ours = [child for child in psutil.Process().children() if "loky" in " ".join(child.cmdline())]
            busy = [child for child in ours if "tracker" not in " ".join(child.cmdline())]
            assert len(busy) == 2
            busy[0].send_signal(signal.SIGKILL)

    function = marking(tmp_path, lambda item, before: time.sleep(0.2) or item)
    assert swarm.map(function, range(8), processes=2, progress=kill_one) == list(range(8))
    assert sorted(marks(tmp_path).values()) in ([1] * 7 + [2], [1] * 8)  # one again, unless it died between two


def test_an_item_that_kills_every_worker_is_given_up_and_named(workers, tmp_path):
    def deadly(item, before):
        if item == 1:
            time.sleep(0.5)
            os.kill(os.getpid(), signal.SIGKILL)
        return item

    with pytest.raises(RunFailed, match=r"item 1, 1: .*died"):
        swarm.map(marking(tmp_path, deadly), range(3), **workers)
    assert 3 <= marks(tmp_path)[1] <= 5  # three tries of ours, four of Dask's
    assert marks(tmp_path)[0] == 1


def test_no_process_is_left_behind():
    swarm.map(abs, range(4), processes=2)
    left = [child for child in psutil.Process().children() if "popen_loky" in " ".join(child.cmdline())]
    assert left == []


def test_workers_that_are_kept_serve_several_maps(workers):
    def which(item):
        import os

        if item == "bad":
            raise ValueError(item)
        return os.getpid()

    with swarm.workers(**workers) as crew:
        first = swarm.map(which, range(6), workers=crew)
        with pytest.raises(RunFailed, match="bad"):
            swarm.map(which, ["bad"], workers=crew)
        second = swarm.map(which, range(6), workers=crew)
    assert set(second) <= set(first)
    assert os.getpid() not in first


def test_a_map_inside_a_map_starts_no_processes_of_its_own():
    def outer(item):
        import os

        from vitruvian import swarm

        return [os.getpid(), *swarm.map(lambda _: os.getpid(), range(2))]

    for pids in swarm.map(outer, range(2), processes=2):
        assert len(set(pids)) == 1
        assert pids[0] != os.getpid()


@pytest.mark.parametrize("kind", [signal.SIGINT, signal.SIGKILL], ids=lambda kind: kind.name)
def test_workers_end_with_their_parent(tmp_path, kind):
    script = textwrap.dedent(f"""
        import os, pathlib, signal, time
        from vitruvian import swarm
        signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job ignores it
        def work(item):
            pathlib.Path({str(tmp_path)!r}, str(os.getpid())).touch()
            time.sleep(2.0)
        swarm.map(work, range(50), processes=2)
    """)
    parent = subprocess.Popen([sys.executable, "-c", script], stderr=subprocess.DEVNULL, start_new_session=True)
    deadline = time.monotonic() + 60
    while len(list(tmp_path.iterdir())) < 2 and time.monotonic() < deadline:
        time.sleep(0.05)
    pids = [int(path.name) for path in tmp_path.iterdir()]
    assert len(pids) == 2
    os.killpg(parent.pid, kind) if kind == signal.SIGINT else parent.kill()
    parent.wait(timeout=30)
    deadline = time.monotonic() + 30
    while any(map(psutil.pid_exists, pids)) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not any(map(psutil.pid_exists, pids))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"processes": 0}, "at least 1"),
        ({"processes": 1.5}, "whole number"),
        ({"processes": 2, "scheduler": "tcp://127.0.0.1:1"}, "not both"),
        ({"scheduler": "tcp://127.0.0.1:1"}, "no Dask scheduler at tcp://127.0.0.1:1"),
        ({"scheduler": "nonsense"}, "address of a scheduler is like"),
        ({"scheduler": "tcp://127.0.0.1:99999"}, "no Dask scheduler"),
    ],
)
def test_engines_that_cannot_be(options, words):
    with pytest.raises(InputError, match=words):
        swarm.map(abs, [1], **options)


def test_workers_with_several_threads_are_refused(cluster, monkeypatch):
    monkeypatch.setattr("vitruvian.swarm.cluster.Cluster._asked", lambda self: {"tcp://10.0.0.7:4711": 4})
    with pytest.raises(InputError, match=r"tcp://10.0.0.7:4711 has 4 threads; start workers with --nthreads 1"):
        swarm.map(abs, [1], scheduler=cluster)


def test_a_cluster_whose_workers_are_all_gone_is_not_waited_for_forever(cluster, monkeypatch):
    monkeypatch.setattr("vitruvian.swarm.cluster.JOIN_SECONDS", 1.0)
    asked = iter([{"tcp://10.0.0.7:4711": 1}, {"tcp://10.0.0.7:4711": 1}])
    monkeypatch.setattr("vitruvian.swarm.cluster.Cluster._asked", lambda self: next(asked, {}))
    with pytest.raises(RunFailed, match="has had no workers for 1 s"):
        swarm.map(lambda item: time.sleep(4.0), [1], scheduler=cluster)


def test_a_result_that_never_comes_over_is_tried_again_and_then_given_up(cluster, monkeypatch, tmp_path):
    def never(self, timeout=None):
        raise TimeoutError

    monkeypatch.setattr("vitruvian.swarm.cluster.FETCH_SECONDS", (0.1, 0.1))
    monkeypatch.setattr("distributed.Future.result", never)
    with pytest.raises(RunFailed, match=r"item 0, 7: .* died, 3 times in a row"):
        swarm.map(marking(tmp_path, lambda item, before: item), [7], scheduler=cluster)
    assert marks(tmp_path) == {7: 3}
