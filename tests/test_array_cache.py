"""Where fitted bones and skins are kept."""

import numpy as np
import pytest

from vitruvian import array_cache, sources
from vitruvian.array_cache import AS_NUMBERS, cached_arrays, key
from vitruvian.sources import leaned_on

# what makes kept arrays, with a file on which each leans only through others
MAKERS = {
    "vitruvian.anatomy.skin": "vitruvian.mesh.outline",
    "vitruvian.anatomy.bound_skin": "vitruvian.mesh.decimate",
    "vitruvian.anatomy.body_bellies": "vitruvian.mesh.crossing",
    "vitruvian.anatomy.density": "vitruvian.mesh.levelset",
    "vitruvian.anatomy.surfaces.build": "vitruvian.anatomy.tables",
}


@pytest.fixture(autouse=True)
def fresh(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    sources.digest.cache_clear()
    yield
    sources.digest.cache_clear()


def edit(monkeypatch, module: str) -> None:
    """As if a line had been added to a module."""
    source = sources.source
    monkeypatch.setattr(sources, "source", lambda name: source(name) + "# more\n" * (name == module))
    sources.digest.cache_clear()


@pytest.mark.parametrize("maker", MAKERS)
def test_an_edit_of_what_a_maker_leans_on_changes_its_key(maker, monkeypatch):
    before = key(maker, ())
    edit(monkeypatch, MAKERS[maker])
    assert key(maker, ()) != before


@pytest.mark.parametrize("maker", MAKERS)
@pytest.mark.parametrize("other", ["vitruvian.skeleton.aba", "vitruvian.flesh.model", "vitruvian.water.step"])
def test_an_edit_of_the_dynamics_fits_no_skin_anew(maker, other, monkeypatch):
    before = key(maker, ())
    edit(monkeypatch, other)
    assert key(maker, ()) == before


@pytest.mark.parametrize("maker", MAKERS)
def test_makers_lean_on_few(maker):
    assert len(leaned_on(maker, AS_NUMBERS)) < 45


def test_keys_tell_what_is_given_apart():
    given = [(1, 2), (12,), ("a", "b"), (b"ab",), (np.arange(4),), (np.arange(4.0),), (np.arange(4).reshape(2, 2),)]
    assert len({key("vitruvian.anatomy.skin", g) for g in given}) == len(given)


def test_arrays_are_made_once_and_read_back():
    made = []

    def make():
        made.append(1)
        return {"x": np.linspace(0.0, 1.0, 7), "names": np.array(["a", "bc"])}

    first = cached_arrays("test", "vitruvian.anatomy.skin", (1,), make)
    again = cached_arrays("test", "vitruvian.anatomy.skin", (1,), make)
    assert len(made) == 1
    assert all(np.array_equal(first[name], again[name]) for name in first)
    cached_arrays("test", "vitruvian.anatomy.skin", (2,), make)
    assert len(made) == 2


def test_half_a_file_and_a_home_that_cannot_be_written_to_do_no_harm(tmp_path, monkeypatch):
    (tmp_path / "vitruvian").mkdir()
    name = f"test-{key('vitruvian.anatomy.skin', ())}.npz"
    (tmp_path / "vitruvian" / name).write_bytes(b"PK\x03\x04half")
    assert cached_arrays("test", "vitruvian.anatomy.skin", (), lambda: {"x": np.ones(2)})["x"].sum() == 2.0
    blocked = tmp_path / "file"
    blocked.write_text("")
    monkeypatch.setattr(array_cache, "home", lambda: blocked)
    assert cached_arrays("test", "vitruvian.anatomy.skin", (), lambda: {"x": np.ones(2)})["x"].sum() == 2.0
