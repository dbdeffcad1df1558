"""`vt.render` and `vt.show` take a path, a recording, a run, or a world that has not run."""

import urllib.request

import numpy as np
import pytest
from PIL import Image

import vitruvian as vt
from vitruvian.errors import InputError
from vitruvian.scenes import find

SIZE = (96, 64)


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return vt.run("pendulum", seconds=0.25, out=tmp_path_factory.mktemp("runs") / "a.zarr")


def world():
    return find("pendulum").build({name: p.default for name, p in find("pendulum").parameters.items()})


def picture(source, path, **how):
    assert vt.render(source, path, size=SIZE, **how) == path
    image = np.asarray(Image.open(path))
    assert image.shape == (64, 96, 3)
    return image


def test_path_recording_and_run_give_the_same_picture(run, tmp_path):
    one = picture(run, tmp_path / "a.png", at=0.2)
    np.testing.assert_array_equal(one, picture(run.recording, tmp_path / "b.png", at=0.2))
    np.testing.assert_array_equal(one, picture(vt.open(run), tmp_path / "c.png", at=0.2))
    assert (one != picture(run, tmp_path / "d.png", at=0.2, layers="stand")).any()


def test_world_that_has_not_run_is_drawn_as_it_stands(run, tmp_path):
    start = picture(world(), tmp_path / "w.png", camera="front")
    assert start.std() > 5.0


def test_suffix_chooses_picture_or_film(run, tmp_path):
    told = []
    film = vt.render(run, tmp_path / "a.mp4", size=SIZE, fps=30, progress=lambda done, total: told.append(done))
    assert film.stat().st_size > 500
    assert told == list(range(1, len(told) + 1))
    with pytest.raises(InputError, match="'at' chooses the time of a picture"):
        vt.render(run, tmp_path / "b.mp4", at=0.1)
    with pytest.raises(InputError, match="'fps' is for films"):
        vt.render(run, tmp_path / "b.png", fps=30)
    with pytest.raises(InputError, match="did you mean bodies"):
        vt.render(run, tmp_path / "b.png", layers=["bodys"])


def test_show_serves_a_page(run):
    viewer = vt.show(run, port=8137, browser=False, block=False)
    try:
        assert b"<html" in urllib.request.urlopen(viewer.url, timeout=10).read().lower()
    finally:
        viewer.close()
