"""Where compiled kernels are kept."""

import os
import subprocess
import sys

from vitruvian import kernel_cache


def folder_chosen(monkeypatch, tmp_path):
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    kernel_cache.choose_folder()
    return os.environ.get("NUMBA_CACHE_DIR")


def test_folder_changes_with_the_contents_of_kernel_files_only(monkeypatch, tmp_path):
    package = tmp_path / "package"
    package.mkdir()
    (package / "kernels.py").write_text("from numba import njit\n")
    (package / "story.py").write_text("x = 1\n")
    monkeypatch.setattr(kernel_cache, "__file__", str(package / "kernel_cache.py"))
    first = folder_chosen(monkeypatch, tmp_path)
    (package / "story.py").write_text("x = 2\n")
    assert folder_chosen(monkeypatch, tmp_path) == first
    (package / "kernels.py").write_text("from numba import njit  # changed\n")
    assert folder_chosen(monkeypatch, tmp_path) != first


def test_only_the_latest_folders_are_kept(monkeypatch, tmp_path):
    base = tmp_path / "vitruvian"
    for k in range(6):
        (base / f"kernels-{k}").mkdir(parents=True)
        os.utime(base / f"kernels-{k}", (k, k))
    folder_chosen(monkeypatch, tmp_path)
    left = {path.name for path in base.iterdir()}
    assert len(left) == kernel_cache.FOLDERS_KEPT
    assert "kernels-0" not in left
    assert "kernels-5" in left


def test_a_folder_of_the_users_own_is_left_alone(monkeypatch):
    monkeypatch.setenv("NUMBA_CACHE_DIR", "/somewhere/else")
    kernel_cache.choose_folder()
    assert os.environ["NUMBA_CACHE_DIR"] == "/somewhere/else"


def test_a_home_that_cannot_be_written_to_does_no_harm(tmp_path):
    blocked = tmp_path / "file"
    blocked.write_text("")
    env = {key: value for key, value in os.environ.items() if key != "NUMBA_CACHE_DIR"}
    env["XDG_CACHE_HOME"] = str(blocked)
    code = "import os, vitruvian; print(os.environ.get('NUMBA_CACHE_DIR'))"
    run = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "None"
