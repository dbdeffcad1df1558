"""`vitruvian prepare`."""

from vitruvian.cli import invoke, preparing


def test_parts_are_run_in_other_processes_and_told(capsys, monkeypatch):
    monkeypatch.setattr(preparing, "PREPARED", {"water": ("pendulum", {"length": "1"})})
    assert invoke(["prepare", "water"]) == 0
    assert "water ready" in capsys.readouterr().err


def test_a_part_that_fails_is_an_error(capsys, monkeypatch):
    monkeypatch.setattr(preparing, "PREPARED", {"water": ("pendulum", {"nonsense": "2"})})
    assert invoke(["prepare", "water"]) == 2
    assert "nonsense" in capsys.readouterr().err


def test_what_is_run_exists():
    from vitruvian.scenes import find
    from vitruvian.world import scene_parameters

    for scene, settings in (*preparing.PREPARED.values(), preparing.SWIMMER):
        assert scene_parameters(find(scene), "draft", settings)
