"""The viewer and the live view, without a browser."""

import socket
import threading
import time
import urllib.request
from types import SimpleNamespace

import numpy as np
import pytest

from vitruvian.errors import InputError
from vitruvian.view import LiveView, MemoryRecording, one_frame, serve, serve_model
from vitruvian.view.camera import FIELD_OF_VIEW
from vitruvian.view.server import start_server, welcome
from vitruvian.world import Camera, Frame, Lines, LinesFrame, Mesh, Signal, Stage


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def until(condition, seconds=10.0):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.02)


@pytest.fixture
def show():
    """Serve without a browser; closed at the end of the test."""
    open_views = []

    def one(recording, serve=serve, **how):
        open_views.append(serve(recording, port=free_port(), open_browser=False, block=False, **how))
        return open_views[-1]

    yield one
    for view in open_views:
        view.close()


def test_page_is_served_on_this_machine_only_and_stdout_stays_clean(demo, show, capsys):
    viewer = show(demo.demo(3))
    assert viewer.page.url.startswith("http://127.0.0.1:")
    assert b"<html" in urllib.request.urlopen(viewer.page.url, timeout=10).read(2000).lower()
    viewer.page.close()
    said = capsys.readouterr()
    assert said.out == ""
    assert viewer.page.url in said.err


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
    import viser
    from websockets.exceptions import InvalidStatus
    from websockets.sync.client import connect

    viewer = show(demo.demo(2))
    address = viewer.page.url.replace("http", "ws")
    how = {"subprotocols": [f"viser-v{viser.__version__}"], "max_size": None}
    with connect(address, origin=viewer.page.url, **how) as page:
        assert len(page.recv(timeout=20)) > 0
    for origin in ("http://evil.example", "null"):
        with pytest.raises(InvalidStatus, match="403"):
            connect(address, origin=origin, **how)


def test_busy_port_gives_way_to_the_next_and_says_so(capsys):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        server = start_server("127.0.0.1", port, "")
        try:
            assert server.get_port() > port
            assert f"port {port} is busy" in capsys.readouterr().err
        finally:
            server.stop()


def test_impossible_port_is_an_input_error():
    with pytest.raises(InputError, match="65535"):
        start_server("127.0.0.1", 99999, "")


def test_public_sharing_is_switched_off(demo, show):
    assert show(demo.demo(1)).page.server.request_share_url() is None


def test_playback_advances_in_real_time_and_stops_at_the_end_without_loop(demo, show):
    viewer = show(demo.demo(20, rate=40.0))
    viewer.loop.value = False
    began = time.monotonic()
    viewer._toggle()
    until(lambda: not viewer.playing)
    assert 0.4 < time.monotonic() - began < 5.0
    assert viewer.index == 19
    until(lambda: abs(viewer.slider.value - 19 / 40.0) < 1e-3)


def test_steps_and_seeking_stay_within_the_recording(demo, show):
    viewer = show(demo.demo(5))
    for which, expected in (("on", 1), ("back", 0), ("back", 0), ("last", 4), ("on", 4), ("first", 0)):
        viewer._step(which)
        assert viewer.index == expected
    viewer.seek(3)
    until(lambda: viewer._shown == 3)
    assert viewer.page.plots.now == pytest.approx(3 / 30.0)


def test_nodes_move_to_the_frame_that_is_shown(demo, show):
    recording = demo.demo(5)
    viewer = show(recording)
    viewer.seek(4)
    until(lambda: viewer._shown == 4)
    body = next(n for n in viewer.page.nodes if getattr(n, "body", -1) == 2)
    assert np.allclose(body.frame.position, recording.frame(4).poses[2, :3])
    assert np.allclose(body.frame.wxyz, recording.frame(4).poses[2, 3:])


@pytest.mark.parametrize("n", [0, 1])
def test_recordings_of_no_or_one_frame_can_be_shown(demo, show, n):
    full = demo.demo(1)
    viewer = show(MemoryRecording(full.stage, full.frames[:n], full.time[:n], full.attributes))
    viewer._toggle()
    assert not viewer.playing


def test_recording_that_grows_is_followed(demo, show):
    full = demo.demo(6)
    growing = MemoryRecording(full.stage, full.frames[:2], full.time[:2])
    viewer = show(growing)
    growing.frames, growing.time = full.frames, full.time
    until(lambda: len(viewer.times) == 6)
    assert viewer.slider.max == pytest.approx(full.time[-1], abs=1e-3)


def test_model_that_never_ran_can_be_shown(demo, show):
    recording = demo.demo(1)
    viewer = show(recording.stage, lambda stage, **how: serve_model(stage, recording.frame(0), title="model", **how))
    assert viewer.page.title == "model"


def test_many_lines_are_shown_as_instances_that_join_the_points(show):
    n = 300
    rng = np.random.default_rng(1)
    points = rng.normal(size=(2 * n, 3))
    stage = Stage(lines=(Lines("wires", 2 * np.arange(n + 1), np.full(n, 0.01), layer="wire"),))
    viewer = show(one_frame(stage, Frame(lines={"wires": LinesFrame(points)})))
    handle = viewer.page.nodes[0].handle
    assert np.allclose(handle.batched_positions, 0.5 * (points[0::2] + points[1::2]), atol=1e-5)
    length = np.linalg.norm(points[1::2] - points[0::2], axis=1)
    assert np.allclose(handle.batched_scales[:, 2], length + 0.005, atol=1e-5)


def test_live_view_shows_the_newest_frame_and_holds_the_run_while_paused(demo):
    recording = demo.demo(30)
    view = LiveView(recording.stage, free_port(), "live", first=recording.frame(0))
    try:
        for i in range(10):
            view.push(float(recording.time[i]), recording.frame(i))
            view.wait_while_paused()
        until(lambda: f"t = {recording.time[9]:.3f} s" in view.page.words.content)
        view._toggle()
        assert view.paused
        done = threading.Event()
        thread = threading.Thread(target=lambda: (view.wait_while_paused(), done.set()))
        thread.start()
        assert not done.wait(0.2)
        view._toggle()
        assert done.wait(5.0)
        thread.join()
    finally:
        view.close()


def test_live_view_takes_signals_that_come_and_go():
    stage = Stage(signals=(Signal("a", "N"), Signal("b", "m", components=("x", "y"))))
    view = LiveView(stage, free_port())
    try:
        view.push(0.0, Frame(signals={"a": 1.0}))
        view.push(0.1, Frame(signals={"b": np.array([1.0, 2.0])}))
        until(lambda: len(view.page.plots.time) == 2)
        assert view.page.plots.series["b"].shape == (2, 2)
    finally:
        view.close()


@pytest.mark.parametrize(("aspect", "widened"), [(2.0, 1.0), (0.5, 1.06 * 0.8 / 0.5), (0.2, 1.06 * 0.8 / 0.2)])
def test_narrow_window_is_widened_only_as_far_as_what_is_shown_needs(show, demo, aspect, widened):
    vertices, faces = demo.box(1.0, 1e-6, 1.0)
    distance = 0.5 / 0.8 / np.tan(0.5 * FIELD_OF_VIEW)  # the plate fills 0.8 of a square picture
    stage = Stage(
        meshes=(Mesh("plate", "", vertices, faces, layer="bones"),),
        cameras=(Camera("front", (0.0, -distance, 0.0), (0.0, 0.0, 0.0)),),
    )
    cameras = show(one_frame(stage, Frame())).page.cameras
    client = SimpleNamespace(client_id=1, camera=SimpleNamespace(aspect=aspect, fov=FIELD_OF_VIEW))
    cameras._fit(client)
    assert np.tan(0.5 * client.camera.fov) / np.tan(0.5 * FIELD_OF_VIEW) == pytest.approx(widened, rel=1e-4)
