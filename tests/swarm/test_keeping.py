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
from pathlib import Path

import numba
import numpy as np
import pytest

from vitruvian import swarm
from vitruvian.errors import InputError, RunFailed
from vitruvian.swarm.identity import digest_of, name_of
from vitruvian.swarm.keeping import Kept

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


def squared(item):
    return item**2


class Adding:
    def __init__(self, more):
        self.more = more

    def __call__(self, item):
        return item + self.more


def adding(more):
    def add(item):
        return item + more

    return add


def adding_with_default(more):
    def add(item, more=more):
        return item + more

    return add


FUNCTIONS = {
    "named": lambda: squared,
    "kernel": lambda: numba.njit(squared),
    "lambda": lambda: lambda x: x + 1,
    "constant": lambda: lambda x: x + 2,
    "operator": lambda: lambda x: x - 1,
    "attribute": lambda: lambda x: x.real,
    "words": lambda: lambda x: x in {"a", "b", "c", "d"},
    "class": lambda: json.JSONDecoder,
    "closure": lambda: adding(1),
    "other closure": lambda: adding(2),
    "array closure": lambda: adding(np.arange(3)),
    "other array closure": lambda: adding(np.arange(4)),
    "default": lambda: adding_with_default(1),
    "other default": lambda: adding_with_default(2),
    "object": lambda: Adding(1),
    "other object": lambda: Adding({"b": 2, "a": 1}),
    "partial": lambda: functools.partial(json.dumps, indent=1),
    "other partial": lambda: functools.partial(json.dumps, indent=2),
    "method": lambda: Adding(3).__call__,
    "of a list": lambda: [1, 2].index,
    "of another list": lambda: [1, 3].index,
    "of a type": lambda: str.upper,
}


def test_the_same_function_is_known_and_another_is_not(tmp_path):
    digests = {name: digest_of(make()) for name, make in FUNCTIONS.items()}
    assert len(set(digests.values())) == len(FUNCTIONS)
    assert digests == {name: digest_of(make()) for name, make in FUNCTIONS.items()}


def test_functions_are_known_in_another_process(tmp_path):
    (tmp_path / "known.py").write_text(Path(__file__).read_text())
    script = "import known; print({name: known.digest_of(make()) for name, make in known.FUNCTIONS.items()})"
    told = set()
    for seed in "123":
        env = {**os.environ, "PYTHONHASHSEED": seed}
        command = [sys.executable, "-c", script]
        told.add(subprocess.run(command, env=env, cwd=tmp_path, capture_output=True, text=True, check=True).stdout)
    assert len(told) == 1


SCRIPT = """
import dataclasses, enum, sys
from vitruvian import swarm

FACTOR = {factor}

class Colour(enum.Enum):
    RED, GREEN = 1, 2

@dataclasses.dataclass(frozen=True)
class Scaling:
    more: float
    kinds: frozenset = frozenset({{"a", "b", "c"}})

    @property
    def twice(self):
        return 2 * self.more

    def __call__(self, item):
        return item * FACTOR + self.twice{more}

def deep(item):
    return item if item <= 0 else deep(item - 1) * FACTOR + Colour.GREEN.value{more}

function = {{"object": Scaling(1.0), "function": deep}}[sys.argv[2]]
print(swarm.map(function, [1, 2], processes=1, keep=sys.argv[1]))
"""


@pytest.mark.parametrize("kind", ["object", "function"])
def test_what_a_script_defines_is_known_by_all_that_it_holds_and_reads(tmp_path, kind):
    def call(**changed):
        text = SCRIPT.format(**{"factor": 2, "more": "", **changed})
        command = [sys.executable, "-c", text, str(tmp_path / "kept"), kind]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    first = call()
    assert first.returncode == 0, first.stderr
    assert call().stdout == first.stdout
    for changed in ({"factor": 3}, {"more": " + 1"}):
        assert "keeps the results of something else" in call(**changed).stderr


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (lambda x: x + 1, lambda x: x * 100),
        (adding(1), adding(2)),
        (Adding(1), Adding(2)),
        (functools.partial(pow, 2), functools.partial(pow, 3)),
    ],
    ids=["lambda", "closure", "object", "partial"],
)
def test_results_of_another_function_are_refused(tmp_path, first, second):
    swarm.map(first, [1, 2, 3], processes=1, keep=tmp_path / "kept")
    with pytest.raises(InputError, match="keeps the results of something else: another "):
        swarm.map(second, [1, 2, 3], processes=1, keep=tmp_path / "kept")


def test_an_edited_function_of_a_module_is_another(tmp_path, monkeypatch):
    before = digest_of(squared)
    monkeypatch.setattr(squared, "__code__", (lambda item: item**3).__code__)
    assert digest_of(squared) != before


def test_what_cannot_be_known_again_is_refused_in_one_line(tmp_path):
    class Odd:
        def __call__(self, item):
            return item

        def __reduce_ex__(self, protocol):
            raise TypeError("no two of me are the same")

    with pytest.raises(
        InputError, match=r"^cannot keep results of .*Odd: it holds a .*Odd, .*; use a function of a mod"
    ):
        digest_of(Odd())


def test_functions_are_told_by_name():
    assert name_of(json.dumps) == name_of(functools.partial(json.dumps, indent=1)) == "json.dumps"
    assert name_of(Adding(1)) == f"{__name__}.Adding"
