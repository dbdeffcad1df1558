"""Pictures and films as files."""

import imageio_ffmpeg
import numpy as np
import pytest
from PIL import Image

from vitruvian.errors import InputError, RunFailed
from vitruvian.view import MemoryRecording, Shooting, one_frame, render_film, render_picture
from vitruvian.view.camera import Place
from vitruvian.view.drawing import Model
from vitruvian.view.render import film_frames
from vitruvian.world import Camera, Frame, Mesh, Stage, Surface

SMALL = (160, 120)


def test_picture_has_the_size_asked_for_and_shows_something(demo, tmp_path):
    for name in ("a.png", "b.webp"):
        out = render_picture(demo.demo(3), tmp_path / name, at=0.03, size=SMALL)
        pixels = np.asarray(Image.open(out).convert("RGB"))
        assert pixels.shape == (120, 160, 3)
        assert pixels.std() > 10.0


def test_film_decodes_to_one_frame_per_recorded_frame_at_the_recorded_rate(demo, tmp_path):
    told = []
    out = render_film(demo.demo(7, rate=25.0), tmp_path / "f.mp4", size=(161, 121), progress=lambda *n: told.append(n))
    reader = imageio_ffmpeg.read_frames(str(out))
    about = next(reader)
    frames = [np.frombuffer(f, np.uint8).reshape(120, 160, 3) for f in reader]
    assert about["fps"] == pytest.approx(25.0)
    assert about["codec"] == "h264"
    assert about["pix_fmt"].startswith("yuv420p")
    assert len(frames) == 7
    assert told == [(i + 1, 7) for i in range(7)]
    assert np.abs(frames[0].astype(float) - frames[-1]).mean() > 0.5


@pytest.mark.parametrize(
    ("recorded", "fps", "rate", "count"),
    [
        (60.0, None, 30.0, 61),
        (240.0, None, 30.0, 61),
        (48.0, None, 24.0, 49),
        (60.0, 50.0, 50.0, 101),
        (25.0, None, 25.0, 51),
    ],
)
def test_film_runs_in_real_time_whatever_the_recorded_rate(recorded, fps, rate, count):
    time = np.arange(round(2.0 * recorded) + 1) / recorded
    got, order = film_frames(time, fps)
    assert got == pytest.approx(rate)
    assert len(order) == count
    assert np.abs(time[order] - np.arange(count) / rate).max() <= 0.5 / recorded + 1e-9


def test_film_of_one_frame_has_one_frame():
    assert len(film_frames(np.zeros(1))[1]) == 1


def test_layers_hide_what_is_not_named(demo):
    recording = demo.demo(1)
    everything = Shooting(recording, size=SMALL, camera="front", words=False).shoot(0)
    bones = Shooting(recording, size=SMALL, camera="front", layers=["bones"], words=False).shoot(0)
    assert np.abs(everything.astype(float) - bones).mean() > 1.0


def test_skin_is_seen_through_only_where_something_within_it_is_shown():
    face = np.array([[0, 1, 2]], np.int32)
    corners = np.eye(3)
    stage = Stage(
        bodies=("b",),
        meshes=(Mesh("m", "b", corners, face, layer="bones"),),
        surfaces=(Surface("s", face, layer="skin", opacity=0.5), Surface("w", face, layer="water", opacity=0.5)),
    )
    opacities = [
        {s.layer: s.opacity for s in Model(stage, layers).stage.surfaces} for layers in (None, ["skin", "water"])
    ]
    assert opacities == [{"skin": 0.5, "water": 0.5}, {"skin": 1.0, "water": 0.5}]


def test_followed_body_stays_in_the_middle_of_the_picture(demo):
    vertices, faces = demo.ball(0.2)
    stage = Stage(
        bodies=("b",),
        meshes=(Mesh("m", "b", vertices, faces, colour=(0.9, 0.1, 0.1), layer="bones"),),
        cameras=(Camera("chase", (0.0, -4.0, 0.5), (0.0, 0.0, 0.0), follow="b"),),
        ground=None,
    )
    frames = [Frame(poses=np.array([[x, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0]])) for x in (0.0, 30.0)]
    shooting = Shooting(MemoryRecording(stage, frames, np.arange(2.0)), size=SMALL, words=False)
    first, last = (shooting.shoot(i).astype(int) for i in (0, 1))
    assert last[60, 80, 0] > last[60, 80, 2] + 40
    assert np.abs(first - last).max() <= 2


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ({"layers": ["bnes"]}, "did you mean bones"),
        ({"layers": ["zzzzz"]}, "known: bones, flesh"),
        ({"camera": "frnt"}, "did you mean front"),
        ({"at": 99.0}, "runs from 0 to"),
        ({"size": (4, 4)}, "between 16 and"),
    ],
)
def test_wrong_wishes_are_input_errors_that_name_what_is_there(demo, tmp_path, how, words):
    with pytest.raises(InputError, match=words):
        render_picture(demo.demo(2), tmp_path / "x.png", **how)


@pytest.mark.parametrize("name", ["x.gif", "nowhere/x.png"])
def test_wrong_names_are_input_errors(demo, tmp_path, name):
    with pytest.raises(InputError):
        render_picture(demo.demo(1), tmp_path / name)


def test_recording_without_frames_is_an_input_error(tmp_path):
    with pytest.raises(InputError, match="no frames"):
        render_picture(MemoryRecording(Stage(), [], np.zeros(0)), tmp_path / "x.png")


def test_full_disk_is_a_clear_failure(demo, tmp_path):
    for name, render in (("x.png", render_picture), ("x.mp4", render_film)):
        full = tmp_path / name
        full.symlink_to("/dev/full")
        with pytest.raises(RunFailed, match="cannot write"):
            render(demo.demo(3), full, size=SMALL)


def test_stage_without_anything_still_gives_a_picture(tmp_path):
    out = render_picture(one_frame(Stage(), Frame()), tmp_path / "x.png", size=SMALL)
    assert Image.open(out).size == SMALL


def test_a_film_of_few_frames_over_ages_is_refused():
    with pytest.raises(InputError, match="fewer frames per second"):
        film_frames(np.array([0.0, 0.1, 1e5]))
    assert len(film_frames(np.array([0.0, 50.0, 100.0]), 1.0)[1]) == 101


def test_a_camera_is_put_anywhere_and_goes_around(demo):
    recording = demo.demo(5)
    place = Place(eye=(4.0, 0.0, 1.0), target=(0.0, 0.0, 1.0), orbit=0.5)
    shooting = Shooting(recording, size=(64, 36), place=place)
    assert np.allclose(shooting.eye, (4.0, 0.0, 1.0))
    assert np.allclose(place.turned(shooting.eye, shooting.target, 1.0)[0], (-4.0, 0.0, 1.0))
    first, last = shooting.shoot(0), shooting.shoot(4)
    assert np.abs(first.astype(float) - last).mean() > 2.0
    moved = Place(target=(1.0, 2.0, 3.0)).instead_of(np.zeros(3), np.array([0.0, 1.0, 0.0]))
    assert np.allclose(moved, [(1.0, 1.0, 3.0), (1.0, 2.0, 3.0)])
    for wrong in ({"eye": (np.nan, 0.0, 0.0)}, {"eye": (1.0, 1.0, 1.0), "target": (1.0, 1.0, 1.0)}, {"orbit": np.inf}):
        with pytest.raises(InputError):
            Place(**wrong)
