"""The viewer and the live view, without a browser."""

import json
import socket
import threading
import time
import urllib.error
import urllib.request

import numpy as np
import pytest

from vitruvian.errors import InputError
from vitruvian.view import LiveView, MemoryRecording, serve, serve_model, write_page
from vitruvian.view.packing import boxed, pack_frame, parts_of_range
from vitruvian.view.server import Server, welcome
from vitruvian.view.sharing import unpacked
from vitruvian.world import Frame, Signal, Stage


@pytest.fixture
def show():
    """Serve without a browser; closed at the end of the test."""
    open_views = []

    def one(*recordings, serve=serve, **how):
        open_views.append(serve(*recordings, port=0, open_browser=False, block=False, **how))
        return open_views[-1]

    yield one
    for view in open_views:
        view.close()


def get(url, **headers):
    return urllib.request.urlopen(urllib.request.Request(url, headers=headers), timeout=10).read()


def status(url, method="GET", **headers):
    try:
        return urllib.request.urlopen(urllib.request.Request(url, headers=headers, method=method), timeout=10).status
    except urllib.error.HTTPError as error:
        return error.code


def places(block):
    """What `boxed` packed."""
    box = np.frombuffer(block, "<f4", 6)
    return box[:3] + np.frombuffer(block, "<u2", offset=24).reshape(-1, 3) * box[3:]


def test_page_is_served_on_this_machine_only_and_stdout_stays_clean(demo, show, capsys):
    viewer = show(demo.demo(3))
    assert viewer.url.startswith("http://127.0.0.1:")
    assert b"<html" in get(viewer.url).lower()
    said = capsys.readouterr()
    assert said.out == ""
    assert viewer.url in said.err


@pytest.mark.parametrize(
    ("host", "origin", "good"),
    [
        ("127.0.0.1:8080", None, True),
        ("127.0.0.1:8080", "http://127.0.0.1:8080", True),
        ("localhost:9000", "http://localhost:9000", True),
        ("[::1]:8080", "http://[::1]:8080", True),
        ("127.0.0.1:8080", "http://evil.example", False),
        ("127.0.0.1:8080", "http://127.0.0.1:8081", False),
        ("127.0.0.1:8080", "null", False),
        ("evil.example:8080", "http://evil.example:8080", False),
        ("evil.example:8080", None, False),
    ],
)
def test_only_pages_of_this_server_may_ask(host, origin, good):
    assert welcome([host], [origin] if origin else []) == good


def test_a_foreign_page_cannot_read_the_viewer(demo, show):
    viewer = show(demo.demo(2))
    for path in ("/state", "/stage/0", "/frame/0/1", "/signals/0"):
        assert status(viewer.url + path, Origin=viewer.url) == 200
        assert status(viewer.url + path, Origin="http://evil.example") == 403
        assert status(viewer.url + path, Host="evil.example") == 403


@pytest.mark.parametrize(
    "path", ["/frame/0/99", "/frame/0/-1", "/frame/7/0", "/frame/0/x", "/etc/passwd", "/../x", "/line/0/9/9"]
)
def test_what_is_not_there_is_not_found(demo, show, path):
    assert status(show(demo.demo(2)).url + path) == 404


def test_busy_port_gives_way_to_the_next_and_says_so(capsys):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        server = Server("127.0.0.1", port, lambda method, parts: None)
        try:
            assert server.port > port
            assert f"port {port} is busy" in capsys.readouterr().err
        finally:
            server.close()


def test_impossible_port_is_an_input_error():
    with pytest.raises(InputError, match="65535"):
        Server("127.0.0.1", 99999, lambda method, parts: None)


def test_frames_come_as_they_are_to_the_width_of_a_hair(demo, show):
    recording = demo.demo(5)
    viewer, frame = show(recording), recording.frame(4)
    blocks = unpacked(get(f"{viewer.url}/frame/0/4"))
    assert np.allclose(np.frombuffer(blocks[0], "<f4").reshape(-1, 7), frame.poses, atol=1e-6)
    assert np.allclose(places(blocks[1]), frame.surfaces["pool"].vertices, atol=2e-5)
    values = np.frombuffer(blocks[3], "<u2") / 65534 * 5.0
    assert np.allclose(values, frame.surfaces["cushion"].values, atol=1e-4)
    assert np.allclose(places(blocks[-1]), frame.points["spray"], atol=2e-5)


def test_places_and_values_that_are_nothing_or_one_point_are_packed():
    assert len(boxed(np.zeros((0, 3)))) == 24
    assert np.allclose(places(boxed(np.array([[1.0, 2.0, 3.0]]))), [[1.0, 2.0, 3.0]])
    assert np.frombuffer(parts_of_range(np.array([np.nan, 0.0, 2.0]), 0.0, 1.0), "<u2").tolist() == [65535, 0, 65534]


@pytest.mark.parametrize("n", [0, 1])
def test_recordings_of_no_or_one_frame_can_be_shown(demo, show, n):
    full = demo.demo(1)
    viewer = show(MemoryRecording(full.stage, full.frames[:n], full.time[:n], full.attributes))
    assert json.loads(get(f"{viewer.url}/state"))["frames"] == [n]
    about = json.loads(unpacked(get(f"{viewer.url}/stage/0"))[0])
    assert about["title"] == "demo"
    assert len(about["time"]) == n


def test_recording_that_grows_is_followed(tmp_path, show):
    from vitruvian.world import Recorder, Recording

    recorder = Recorder.create(tmp_path / "r", Stage(signals=(Signal("x", "m"),)), {"frame_rate": 10.0})
    recorder.append(0.0, Frame(signals={"x": 0.0}))
    recorder.flush()
    viewer = show(Recording.open(tmp_path / "r"))
    recorder.append(0.1, Frame(signals={"x": 1.0}))
    recorder.flush()
    viewer.shown[0]._looked = 0.0
    assert json.loads(get(f"{viewer.url}/state"))["frames"] == [2]


def test_model_that_never_ran_can_be_shown(demo, show):
    recording = demo.demo(1)
    viewer = show(recording.stage, serve=lambda stage, **how: serve_model(stage, recording.frame(0), title="m", **how))
    assert json.loads(unpacked(get(f"{viewer.url}/stage/0"))[0])["title"] == "m"


def test_live_view_shows_the_newest_frame_and_holds_the_run_while_paused(demo):
    recording = demo.demo(30)
    view = LiveView(recording.stage, 0, "live", first=recording.frame(0), actions={"shove": "push it"})
    try:
        for i in range(10):
            view.push(float(recording.time[i]), recording.frame(i))
            view.wait_while_paused()
        instant, frame = unpacked(get(f"{view.url}/live"))
        assert np.frombuffer(instant, "<f8")[0] == recording.time[9]
        assert frame == pack_frame(recording.stage, recording.frame(9))
        assert status(f"{view.url}/pause", "POST", Origin="http://evil.example") == 403
        assert status(f"{view.url}/act/shove", "POST", Origin="http://evil.example") == 403
        assert status(f"{view.url}/act/other", "POST", Origin=view.url) == 404
        assert status(f"{view.url}/act/shove") == 404
        assert view.asked() == []
        assert status(f"{view.url}/act/shove", "POST", Origin=view.url) == 200
        assert view.asked() == ["shove"]
        assert view.asked() == []
        assert not view.paused
        assert status(f"{view.url}/pause", "POST", Origin=view.url) == 200
        assert view.paused
        done = threading.Event()
        thread = threading.Thread(target=lambda: (view.wait_while_paused(), done.set()))
        thread.start()
        assert not done.wait(0.2)
        view.become(recording)
        assert done.wait(5.0)
        thread.join()
        assert json.loads(get(f"{view.url}/state")) == {"frames": [30], "live": None}
    finally:
        view.close()


def test_live_view_takes_signals_that_come_and_go():
    stage = Stage(signals=(Signal("a", "N"), Signal("b", "m", components=("x", "y"))))
    view = LiveView(stage, 0)
    try:
        view.push(0.0, Frame(signals={"a": 1.0}))
        view.push(0.1, Frame(signals={"b": np.array([1.0, 2.0])}))
        instants, a, b = unpacked(get(f"{view.url}/signals/0"))
        assert np.frombuffer(instants, "<f8").tolist() == [0.0, 0.1]
        assert np.array_equal(np.frombuffer(a, "<f4"), [1.0, np.nan], equal_nan=True)
        assert np.array_equal(np.frombuffer(b, "<f4"), [np.nan, np.nan, 1.0, 2.0], equal_nan=True)
    finally:
        view.close()


def test_shared_page_holds_everything_and_refuses_what_it_cannot_be(demo, tmp_path):
    out = write_page([demo.demo(30)], tmp_path / "demo.html")
    text = out.read_text()
    assert "http://" not in text.replace("http://www.w3.org", "")
    assert "src=" not in text
    assert len(text) < 2_000_000
    with pytest.raises(InputError, match="html"):
        write_page([demo.demo(2)], tmp_path / "demo.txt")
    with pytest.raises(InputError, match="one recording or two"):
        write_page([], tmp_path / "demo.html")


def test_close_is_prompt(demo):
    viewer = serve(demo.demo(2), port=0, open_browser=False, block=False)
    get(viewer.url)
    began = time.monotonic()
    viewer.close()
    assert time.monotonic() - began < 3.0
