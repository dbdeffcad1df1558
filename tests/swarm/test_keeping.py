"""Finished results are kept as they come, nothing is done twice, and no other folder is taken for one's own."""

import functools
import json
import math
import os
import signal
import subprocess
import sys
import textwrap
import time

import numpy as np
import pytest

from vitruvian import swarm
from vitruvian.errors import InputError, RunFailed
from vitruvian.swarm.keeping import Kept, name_of

ITEMS = [{"x": 0.1 * k, "name": f"item {k}"} for k in range(6)]


def marking(folder, then=lambda item: item):
    def function(item):
        import uuid

        (folder / str(uuid.uuid4())).touch()
        return then(item)

    return function


@pytest.fixture
def marks(tmp_path):
    folder = tmp_path / "marks"
    folder.mkdir()
    return folder


@pytest.mark.parametrize("processes", [1, 2])
def test_a_second_call_does_nothing_again_and_gives_the_same(tmp_path, marks, processes):
    function = marking(marks, lambda item: {"third": item["x"] / 3.0, "pair": (1, "ä"), "odd": [math.inf, None, True]})
    first = swarm.map(function, ITEMS, processes=processes, keep=tmp_path / "kept")
    assert first[1] == {"third": 0.1 / 3.0, "pair": [1, "ä"], "odd": [math.inf, None, True]}
    assert swarm.map(function, ITEMS, processes=1, keep=tmp_path / "kept") == first
    assert len(list(marks.iterdir())) == len(ITEMS)


def test_what_is_missing_is_done(tmp_path, marks):
    function = marking(marks, lambda item: item["x"])
    whole = swarm.map(function, ITEMS, processes=1, keep=tmp_path / "kept")
    (tmp_path / "kept/000002.json").unlink()
    told = []
    again = swarm.map(function, ITEMS, processes=1, keep=tmp_path / "kept", progress=lambda *now: told.append(now))
    assert again == whole
    assert told == [(5, 6), (6, 6)]
    assert len(list(marks.iterdir())) == len(ITEMS) + 1


def test_results_before_a_failure_are_kept(tmp_path, marks):
    def fail(item):
        if item["name"] == "item 4" and len(list(marks.iterdir())) <= 5:
            raise ValueError("not now")
        return item["x"]

    function = marking(marks, fail)
    with pytest.raises(RunFailed, match="not now"):
        swarm.map(function, ITEMS, processes=1, keep=tmp_path / "kept")
    assert len(list(marks.iterdir())) == 5
    assert swarm.map(function, ITEMS, processes=1, keep=tmp_path / "kept") == [item["x"] for item in ITEMS]
    assert len(list(marks.iterdir())) == 7  # four, the one that failed twice, and the last


@pytest.mark.parametrize("kind", [signal.SIGINT, signal.SIGKILL], ids=lambda kind: kind.name)
@pytest.mark.parametrize("processes", [1, 2])
def test_stopped_and_called_again_no_item_that_was_finished_is_done_twice(tmp_path, marks, processes, kind):
    script = textwrap.dedent(f"""
        import pathlib, signal, time, uuid
        from vitruvian import swarm
        signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job ignores it
        def work(item):
            time.sleep(0.15)
            pathlib.Path({str(marks)!r}, f"{{item}}-{{uuid.uuid4()}}").touch()
            return item * 0.1
        print(swarm.map(work, range(12), processes={processes}, keep={str(tmp_path / "kept")!r}))
    """)
    command = [sys.executable, "-c", script]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
    deadline = time.monotonic() + 60
    while len(list((tmp_path / "kept").glob("0*.json"))) < 4 and time.monotonic() < deadline:
        time.sleep(0.02)
    os.killpg(process.pid, kind)
    process.wait(timeout=30)
    time.sleep(0.3)
    kept = {path.name: path.stat().st_mtime_ns for path in (tmp_path / "kept").glob("0*.json")}
    assert 4 <= len(kept) < 12
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == str([item * 0.1 for item in range(12)])
    for name, when in kept.items():
        assert (tmp_path / "kept" / name).stat().st_mtime_ns == when
        assert len(list(marks.glob(f"{int(name[:6])}-*"))) == 1


def test_folders_of_something_else_are_refused(tmp_path):
    swarm.map(abs, [1, 2], processes=1, keep=tmp_path / "kept")
    with pytest.raises(InputError, match=r"its function is builtins.abs, not builtins.str"):
        swarm.map(str, [1, 2], processes=1, keep=tmp_path / "kept")
    with pytest.raises(InputError, match="its items is 2, not 3"):
        swarm.map(abs, [1, 2, 3], processes=1, keep=tmp_path / "kept")
    with pytest.raises(InputError, match="the items differ"):
        swarm.map(abs, [1, 3], processes=1, keep=tmp_path / "kept")
    (tmp_path / "other").mkdir()
    (tmp_path / "other/notes.txt").write_text("mine")
    with pytest.raises(InputError, match="not empty and holds no kept results"):
        swarm.map(abs, [1], processes=1, keep=tmp_path / "other")
    with pytest.raises(InputError, match="cannot keep results"):
        swarm.map(abs, [1], processes=1, keep=tmp_path / "other/notes.txt")


@pytest.mark.parametrize("text", ["", "{", "[1]", '{"value": 1}', "[" * 100_000])
def test_a_damaged_result_is_named(tmp_path, text):
    swarm.map(abs, [1, 2], processes=1, keep=tmp_path / "kept")
    (tmp_path / "kept/000001.json").write_text(text)
    with pytest.raises(InputError, match=r"000001.json is damaged; delete it"):
        swarm.map(abs, [1, 2], processes=1, keep=tmp_path / "kept")


def test_two_at_once_are_refused(tmp_path):
    with Kept(tmp_path / "kept", abs, [1]), pytest.raises(InputError, match="being used by another process"):
        swarm.map(abs, [1], processes=1, keep=tmp_path / "kept")


@pytest.mark.parametrize("result", [np.zeros(2), {1: "a"}, {1, 2}, b"bytes", np.int64(3)], ids=str)
def test_what_json_would_change_or_lose_is_refused(tmp_path, result):
    with pytest.raises(InputError, match="the result of item 0 cannot be kept as JSON"):
        swarm.map(lambda item: result, [0], processes=1, keep=tmp_path / "kept")
    assert not (tmp_path / "kept/000000.json").exists()


def test_nothing_is_unpickled_from_disk(tmp_path):
    swarm.map(abs, [1], processes=1, keep=tmp_path / "kept")
    assert json.loads((tmp_path / "kept/000000.json").read_text()) == {"result": 1}
    assert sorted(path.name for path in (tmp_path / "kept").iterdir()) == ["000000.json", "map.json"]


def test_equal_items_are_the_same_items_however_they_were_made(tmp_path):
    made = [{"a": "x" * 3, "b": [1.0, {"c": None}], "grid": np.arange(3.0)} for _ in range(3)]
    shared = {"a": "xxx", "b": [1.0, {"c": None}], "grid": np.arange(3.0)}
    first = Kept(tmp_path, abs, made)
    assert Kept(tmp_path, abs, [shared, shared, shared]).about == first.about
    assert Kept(tmp_path, abs, [shared, shared, {**shared, "a": "xxy"}]).about != first.about


def test_functions_are_known_by_name_and_bound_arguments():
    assert name_of(json.dumps) == "json.dumps"
    assert name_of(functools.partial(json.dumps, indent=1)) != name_of(functools.partial(json.dumps, indent=2))
    assert name_of(functools.partial(json.dumps, indent=1)) == name_of(functools.partial(json.dumps, indent=1))
