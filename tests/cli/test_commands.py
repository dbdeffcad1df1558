import json
import logging
import shutil
import subprocess
import sys
import textwrap

import numpy as np
import pytest

import vitruvian.benchmarks
import vitruvian.verify
from vitruvian.cli import invoke, main
from vitruvian.cli.output import DRAWING
from vitruvian.world import Recording


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture(scope="module")
def swung(tmp_path_factory):
    """A recording of the pendulum."""
    path = tmp_path_factory.mktemp("recordings") / "swung.zarr"
    assert invoke(["run", "pendulum", "--seconds", "0.5", "--out", str(path)]) == 0
    return path


def last_json(capsys):
    return json.loads(capsys.readouterr().out.splitlines()[-1])


def test_help_answers_without_loading_anything_heavy():
    code = (
        "import sys, vitruvian.cli; print([m for m in ('numpy', 'numba', 'zarr', 'viser', 'rich') if m in sys.modules])"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert out.strip() == "[]"


def test_version(capsys):
    assert invoke(["--version"]) == 0
    assert capsys.readouterr().out == f"vitruvian {vitruvian.__version__}\n"


def test_the_command_says_itself_that_kernels_are_compiled():
    log = logging.getLogger("vitruvian.kernels")
    with pytest.raises(SystemExit, match="0"):
        main(["--version"])
    assert not log.isEnabledFor(logging.WARNING)
    log.setLevel(logging.NOTSET)


def test_scenes_are_listed_with_a_line_each(capsys):
    assert invoke(["scenes"]) == 0
    assert "pendulum" in capsys.readouterr().out
    assert invoke(["scenes", "--json"]) == 0
    scenes = last_json(capsys)["scenes"]
    assert scenes["pendulum"]["summary"]
    assert scenes["pendulum"]["parameters"]["length"]["unit"] == "m"


def test_run_records_checks_and_says_where(here, capsys):
    assert invoke(["run", "pendulum", "--seconds", "0.5", "--seed", "3", "--set", "length=0.5", "--json"]) == 0
    result = last_json(capsys)
    assert {"scene", "seconds", "wall_seconds", "steps", "recording", "checks", "metrics"} <= set(result)
    assert (result["scene"], result["seconds"]) == ("pendulum", 0.5)
    assert all(result["checks"].values())
    about = Recording.open(here / result["recording"]).attributes
    assert about["scene"] == "pendulum"
    assert about["parameters"]["length"] == 0.5
    assert about["seed"] == 3


def test_without_out_each_run_gets_a_fresh_name_and_resume_takes_the_latest(here, capsys):
    for n in (1, 2):
        assert invoke(["run", "pendulum", "--seconds", "0.1", "--json"]) == 0
        assert last_json(capsys)["recording"] == f"recordings/pendulum-{n}.zarr"
    assert invoke(["run", "pendulum", "--seconds", "0.2", "--resume", "--json"]) == 0
    assert last_json(capsys)["recording"] == "recordings/pendulum-2.zarr"
    assert len(Recording.open("recordings/pendulum-2.zarr")) == 13
    assert len(Recording.open("recordings/pendulum-1.zarr")) == 7


def test_a_failed_check_is_status_1(here, capsys, monkeypatch):
    import dataclasses

    import vitruvian.scenes
    from vitruvian.world import Report

    scene = vitruvian.scenes.find("pendulum")
    failing = dataclasses.replace(
        scene, check=lambda recording, parameters: Report({"stands still": False}, {"x": np.nan})
    )
    monkeypatch.setattr(vitruvian.scenes, "find", lambda name: failing)
    assert invoke(["run", "pendulum", "--seconds", "0.1", "--json"]) == 1
    result = last_json(capsys)
    assert result["checks"] == {"stands still": False}
    assert result["metrics"] == {"x": None}


BAD_INPUT = [
    (["run", "pendulm"], "did you mean pendulum"),
    (["run", "pendulum", "--set", "lenth=1"], "did you mean length"),
    (["run", "pendulum", "--set", "length"], "key=value"),
    (["run", "pendulum", "--set", "length=x"], "must be a number"),
    (["run", "pendulum", "--set", "length=-1"], "at least"),
    (["run", "pendulum", "--seconds", "0"], "must be positive"),
    (["run", "pendulum", "--seconds", "nan"], "must be positive"),
    (["run", "pendulum", "--seconds", "x"], "--seconds"),
    (["run", "pendulum", "--quality", "best"], "quality"),
    (["run", "pendulum", "--seed", "-1"], "--seed"),
    (["run", "pendulum", "--resume"], "no recording of pendulum"),
    (["run", "pendulum", "--resume", "--out", "nowhere"], "does not exist"),
    (["run", "pendulum", "--out", "/proc/nowhere/a.zarr"], "cannot write"),
    (["run"], "Missing argument"),
    (["rum", "pendulum"], "No such command"),
    (["run", "pendulum", "--sedd", "1"], "No such option"),
    (["view", "nowhere.zarr"], "does not exist"),
    (["view", "pendulm"], "did you mean pendulum"),
    (["view", "pendulum", "--port", "99999"], "--port"),
    (["info", "pendulm"], "did you mean pendulum"),
    (["info", "../x"], "does not exist"),
    (["render", "pendulum", "a.png", "--size", "big"], "WIDTHxHEIGHT"),
    (["render", "pendulum", "a.png", "--size", "1x99999"], "between 16 and 8192"),
    (["render", "pendulum", "a.png", "--layers", "bodys"], "did you mean bodies"),
    (["render", "pendulum", "a.png", "--camera", "frnt"], "did you mean front"),
    (["render", "pendulum", "a.mp4", "--at", "1"], "'at' chooses"),
    (["render", "pendulum", "a.png", "--at", "7"], "not in the recording"),
    (["render", "pendulum", "a.xyz"], ".mp4"),
    (["render", "pendulum", "a"], ".mp4"),
    (["render", "pendulum", "none/a.png"], "there is no folder none"),
    (["export", "pendulum", "a.xyz"], "unknown format"),
    (["export", "pendulum", ""], "has no suffix"),
    (["export", "pendulum", "none/a.csv"], "there is no folder none"),
    (["export", "human", "none/a.xml"], "there is no folder none"),
    (["export", "pendulum", "a.xml"], "pendulum is a scene"),
    (["run", "pendulum", "--out", ""], "'out' wants"),
    (["view", "pendulum", "--no-open", "--host", "256.1.1.1"], "--host 256.1.1.1 is not an address"),
    (["view", "pendulum", "--no-open", "--host", "192.0.2.1"], "--host 192.0.2.1 is not an address"),
    (["info", "nope"], "`vitruvian scenes` lists the scenes"),
    (["verify", "nothing"], "unknown claim chapter"),
    (["bench", "nothing"], "unknown benchmark chapter"),
    (["prepare", "nothing"], "unknown part 'nothing'"),
]


@pytest.mark.parametrize(("arguments", "message"), BAD_INPUT, ids=lambda value: " ".join(value)[:40])
def test_bad_input_is_one_line_and_status_2(here, capsys, arguments, message):
    assert invoke(arguments) == 2
    said = capsys.readouterr()
    complaints = [line for line in said.err.splitlines() if line.startswith("vitruvian: ")]
    assert len(complaints) == 1
    assert message in complaints[0]
    assert said.out == ""
    assert list(here.iterdir()) == []


def test_bad_input_with_json_is_an_object_too(here, capsys):
    assert invoke(["run", "pendulm", "--json"]) == 2
    assert "pendulum" in last_json(capsys)["error"]


def test_existing_output_is_refused_and_untouched(here, swung, capsys):
    before = sorted((file, file.stat().st_mtime_ns) for file in swung.rglob("*"))
    assert invoke(["run", "pendulum", "--out", str(swung)]) == 2
    assert "--resume" in capsys.readouterr().err
    assert sorted((file, file.stat().st_mtime_ns) for file in swung.rglob("*")) == before


@pytest.mark.parametrize("change", [["--set", "length=0.7"], ["--seed", "9"], ["--quality", "fine"]])
def test_resuming_under_other_conditions_is_status_2(here, swung, capsys, change):
    assert invoke(["run", "pendulum", "--resume", "--out", str(swung), "--seconds", "1", *change]) == 2
    assert "it was recorded with" in capsys.readouterr().err


def test_what_can_be_refused_is_refused_before_the_scene_is_built(here, swung, capsys, monkeypatch):
    from dataclasses import replace

    import vitruvian.scenes as scenes

    def build(parameters):
        raise AssertionError("built")

    chosen = replace(scenes.find("pendulum"), build=build)
    monkeypatch.setattr(scenes, "find", lambda name: chosen)
    assert invoke(["run", "pendulum", "--out", str(swung)]) == 2
    assert invoke(["run", "pendulum", "--resume", "--out", str(swung), "--set", "length=0.7"]) == 2
    assert "it was recorded with" in capsys.readouterr().err


def test_info_of_a_scene_is_with_the_settings_asked_for(capsys):
    assert invoke(["info", "float", "--set", "shape=box", "--json"]) == 0
    facts = last_json(capsys)
    assert "box" in facts["signals"]["height"]["title"]
    assert facts["with"] == {"shape": "box"}


def test_info_of_a_recording_and_of_a_scene(swung, capsys):
    assert invoke(["info", str(swung), "--json"]) == 0
    facts = last_json(capsys)
    assert (facts["scene"], facts["frames"], facts["seconds"], facts["finished"]) == ("pendulum", 31, 0.5, True)
    assert facts["signals"]["angle"]["unit"] == "rad"
    assert facts["bodies"] == 1
    assert invoke(["info", "pendulum", "--json"]) == 0
    assert last_json(capsys)["parameters"]["length"]["default"] == 1.0
    assert invoke(["info", str(swung)]) == 0
    assert "angle" in capsys.readouterr().out


def complaints(capsys):
    """Lines on stderr; on a slow machine a remark says why nothing happens yet, which is none."""
    return [line for line in capsys.readouterr().err.splitlines() if line != DRAWING]


def test_a_damaged_recording_is_one_line_and_status_2(here, swung, capsys):
    copy = shutil.copytree(swung, here / "copy.zarr")
    chunk = copy / "poses/c/0/0/0"
    chunk.write_bytes(chunk.read_bytes()[:-20])
    for command in (["info"], ["export"], ["render"]):
        out = {"info": [], "export": ["a.csv"], "render": ["a.png"]}[command[0]]
        assert invoke([*command, str(copy), *out]) == 2
        assert len(complaints(capsys)) == 1


@pytest.mark.parametrize("chunk", ["poses/c/0/0/0", "signals/angle/c/0", "time/c/0"])
def test_a_missing_chunk_is_one_line_and_status_2(here, swung, capsys, chunk):
    copy = shutil.copytree(swung, here / "copy.zarr")
    (copy / chunk).unlink()
    for command in (["info", str(copy)], ["export", str(copy), "a.csv"], ["render", str(copy), "a.png"]):
        assert invoke(command) == 2
        (said,) = complaints(capsys)
        assert "is missing" in said
    assert [entry.name for entry in here.iterdir()] == ["copy.zarr"]


@pytest.mark.parametrize("garbage", [{"seconds": "abc"}, {"seconds": None}, {"seed": None}, {"parameters": None}])
def test_garbage_in_what_a_recording_says_of_itself_is_one_line_and_status_2(here, swung, capsys, garbage):
    copy = shutil.copytree(swung, here / "copy.zarr")
    about = json.loads((copy / "zarr.json").read_text())
    about["attributes"] |= garbage
    (copy / "zarr.json").write_text(json.dumps(about))
    for command in (["info", str(copy)], ["run", "pendulum", "--resume", "--out", str(copy)]):
        assert invoke(command) == 2
        said = capsys.readouterr().err
        assert said.count("\n") == 1
        assert "is damaged" in said


def test_a_signal_found_damaged_by_the_checks_of_a_resumed_run_is_status_2(here, swung, capsys, monkeypatch):
    import dataclasses

    import vitruvian.scenes

    scene = vitruvian.scenes.find("pendulum")

    def damaging(recording, parameters):
        (recording.path / "signals/angle/c/0").unlink()
        return scene.check(recording, parameters)

    monkeypatch.setattr(vitruvian.scenes, "find", lambda name: dataclasses.replace(scene, check=damaging))
    copy = shutil.copytree(swung, here / "copy.zarr")
    assert invoke(["run", "pendulum", "--resume", "--out", str(copy)]) == 2
    assert "chunk c/0 is missing" in capsys.readouterr().err


def test_a_folder_named_like_a_scene_does_not_hide_it(here, swung, capsys):
    shutil.copytree(swung, here / "pendulum")
    assert invoke(["info", "pendulum", "--json"]) == 0
    said = capsys.readouterr()
    assert "summary" in json.loads(said.out)
    assert "./pendulum" in said.err
    assert invoke(["info", "./pendulum", "--json"]) == 0
    assert "recording" in last_json(capsys)


@pytest.mark.parametrize("naps", [0.0, 0.3])
def test_a_slow_start_is_explained_on_stderr_only(here, capsys, monkeypatch, naps):
    import dataclasses
    from time import sleep

    import vitruvian.scenes
    from vitruvian.cli import output

    scene = vitruvian.scenes.find("pendulum")
    slow = dataclasses.replace(scene, build=lambda parameters: (sleep(naps), scene.build(parameters))[1])
    monkeypatch.setattr(vitruvian.scenes, "find", lambda name: slow)
    monkeypatch.setattr(output, "PATIENCE_SECONDS", 0.1 if naps else 30.0)
    assert invoke(["run", "pendulum", "--seconds", "0.1", "--json"]) == 0
    said = capsys.readouterr()
    assert ("compiles kernels" in said.err) == bool(naps)
    assert len(said.out.splitlines()) == 1


def test_without_a_terminal_lines_tell_how_far_a_run_is(here, capsys, monkeypatch):
    from vitruvian.cli import output

    monkeypatch.setattr(output, "TELL_SECONDS", 0.0)
    assert invoke(["run", "pendulum", "--seconds", "0.1", "--json"]) == 0
    said = capsys.readouterr()
    assert " of 0.1 s" in said.err
    assert len(said.out.splitlines()) == 1


def test_export_and_render_write_what_they_say(here, swung, capsys):
    for out in ("a.csv", "a.glb", "a.png"):
        command = "render" if out.endswith("png") else "export"
        extra = ["--size", "64x48", "--camera", "auto"] if command == "render" else []
        assert invoke([command, str(swung), out, *extra]) == 0
        assert (here / out).stat().st_size > 100
        assert out in capsys.readouterr().out


@pytest.fixture
def chapters(tmp_path, monkeypatch):
    """A chapter of claims and one of timings, found like those of the package."""
    (tmp_path / "toybook.py").write_text(
        textwrap.dedent("""
        from vitruvian.errors import MissingExtra
        from vitruvian.verify.book import Finding, claim

        @claim
        def two_and_two_make_four():
            "Arithmetic."
            return Finding(2 + 2, 4, 0, "1", "by counting")

        @claim
        def two_and_two_make_five():
            return Finding(4.0, 5.0, 0.5)

        @claim
        def nothing_is_known():
            return Finding.error(float("nan"), 1.0)

        @claim
        def it_breaks():
            raise ZeroDivisionError("oh\\nno")

        @claim
        def a_peer_agrees():
            raise MissingExtra("peer", "pip install peer")
        """)
    )
    (tmp_path / "toytimes.py").write_text(
        textwrap.dedent("""
        from vitruvian.errors import MissingExtra
        from vitruvian.benchmarks.suite import Timing, timing

        @timing
        def quick():
            return Timing(1e-3, {"peer": 2e-3, "other": 4e-3}, "3 bodies", {"iterations": 7})

        @timing
        def absent():
            raise MissingExtra("peer", "pip install peer")
        """)
    )
    monkeypatch.setattr(vitruvian.verify, "__path__", [*vitruvian.verify.__path__, str(tmp_path)])
    monkeypatch.setattr(vitruvian.benchmarks, "__path__", [*vitruvian.benchmarks.__path__, str(tmp_path)])
    yield
    for name in ("vitruvian.verify.toybook", "vitruvian.benchmarks.toytimes"):
        sys.modules.pop(name, None)


def test_verify_tells_true_false_broken_and_skipped_apart(chapters, capsys):
    assert invoke(["verify", "toybook", "--json"]) == 1
    told = last_json(capsys)
    assert (told["passed"], told["failed"], told["skipped"]) == (1, 3, 1)
    cases = told["cases"]
    assert {name: case["passed"] for name, case in cases.items()} == {
        "toybook/two-and-two-make-four": True,
        "toybook/two-and-two-make-five": False,
        "toybook/nothing-is-known": False,
        "toybook/it-breaks": False,
        "toybook/a-peer-agrees": None,
    }
    assert cases["toybook/two-and-two-make-four"]["detail"] == "by counting"
    assert {"value", "reference", "tolerance", "passed", "seconds"} <= set(cases["toybook/it-breaks"])
    assert cases["toybook/it-breaks"]["detail"] == "ZeroDivisionError: oh no"
    assert cases["toybook/nothing-is-known"]["value"] is None
    assert "pip install peer" in cases["toybook/a-peer-agrees"]["detail"]
    assert invoke(["verify", "toybook"]) == 1
    assert "1 passed, 3 failed, 1 skipped" in capsys.readouterr().out


def test_a_book_of_which_nothing_could_be_measured_has_not_passed(chapters, capsys):
    assert invoke(["verify", "toybook/a-peer", "--json"]) == 1
    said = capsys.readouterr()
    told = json.loads(said.out.splitlines()[-1])
    assert (told["passed"], told["failed"], told["skipped"]) == (0, 0, 1)
    assert "pip install -e '.[peers]'" in said.err
    assert invoke(["verify", "toybook/a-peer"]) == 1
    assert "0 passed, 0 failed, 1 skipped" in capsys.readouterr().out


def test_verify_takes_a_claim_or_the_beginning_of_one(chapters, capsys):
    for word, names in (
        ("toybook/two-and-two-make-four", ["four"]),
        ("toybook/two", ["four", "five"]),
        ("toybook/a-peer", ["agrees"]),
        ("toybo", ["four", "five", "known", "breaks", "agrees"]),
    ):
        invoke(["verify", word, "--json"])
        assert [name.rsplit("-", 1)[-1] for name in last_json(capsys)["cases"]] == names
    assert invoke(["verify", "toybook/two-and-two-make-four", "toybook/a-peer"]) == 0
    assert invoke(["verify", "toybook/two-and-too"]) == 2
    assert "did you mean toybook/two-and-two" in capsys.readouterr().err


def test_bench_has_ours_and_the_peers(chapters, capsys):
    assert invoke(["bench", "toytimes", "--json"]) == 0
    cases = last_json(capsys)["cases"]
    quick = cases["toytimes/quick"]
    assert (quick["seconds"], quick["peers"], quick["ratio"]) == (1e-3, {"peer": 2e-3, "other": 4e-3}, 0.5)
    assert cases["toytimes/absent"]["seconds"] is None
    assert invoke(["bench", "toytimes"]) == 0
    assert "peer 2 ms" in capsys.readouterr().out


def test_a_reader_that_goes_away_is_no_cause_for_noise():
    for words in ("scenes", "scenes --json"):
        command = f"{sys.executable} -c 'from vitruvian.cli import main; main()' {words} | true"
        done = subprocess.run(["bash", "-c", command], capture_output=True, text=True)
        assert "Traceback" not in done.stderr
        assert "Exception" not in done.stderr


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('"left tail flexion" = [0, 1, 2, 1]', "unknown joint 'left tail'"),
        ('"knee flexion" = [0, 1, 2]', "3 poses are too few"),
        ('"knee flexion" = [5, 1, 2, 1, 20]', "the cycle does not close"),
        ('"left elbow flexion" = [0, 5, -90, 5]', "'left elbow flexion' is -90 degrees at pose 3 (phase 0.50)"),
    ],
)
def test_a_wrong_stroke_file_is_told_in_one_line(here, capsys, text, told):
    phase = "phase = [0, 0.2, 0.4, 0.6, 1]\n" if "20" in text else ""
    (here / "odd.toml").write_text(f'posture = "prone"\n{phase}[angles]\n{text}\n')
    assert invoke(["run", "stroke", "--set", "stroke=odd.toml", "--seconds", "0.1"]) == 2
    lines = [line for line in capsys.readouterr().err.splitlines() if line.startswith("vitruvian:")]
    assert len(lines) == 1
    assert told in lines[0]


def test_a_joint_that_goes_somewhat_too_far_is_a_warning_of_one_line(here, capsys):
    (here / "far.toml").write_text('posture = "prone"\n[angles]\n"hip flexion" = [0, -38, 0, 10]\n')
    assert invoke(["run", "stroke", "--set", "stroke=far.toml", "--seconds", "0.05"]) == 0
    lines = [line for line in capsys.readouterr().err.splitlines() if "far" in line]
    assert len(lines) == 1
    assert "warning: stroke 'far': 'hip flexion' is -38 degrees at pose 2" in lines[0]
