"""The viewer in a real browser: Debian's Chromium, driven by Playwright, with its software renderer."""

import io
import time

import numpy as np
import pytest
from PIL import Image

from vitruvian.view import LiveView, MemoryRecording, serve, write_page
from vitruvian.world import Camera, Frame, Lines, LinesFrame, Mesh, Stage, Surface, SurfaceFrame

DESK, SMALL, PHONE = (1120, 680), (800, 600), (390, 844)


def until(condition, seconds=30.0):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.05)


def test_page_is_named_and_shows_the_scene(viewer, look, shot):
    page = look(viewer.url)
    assert page.title() == "demo – vitruvian"
    assert page.inner_text("#clock") == "t = 0.000 s"
    assert shot(page).std() > 10.0


@pytest.mark.parametrize("size", [SMALL, PHONE], ids=["800x600", "phone"])
def test_picture_comes_first_in_a_small_window_and_everything_else_is_a_tap_away(viewer, look, size):
    page = look(viewer.url, size)
    assert page.locator("#scene").bounding_box()["width"] == size[0]
    assert not page.locator("#panel").is_visible()
    assert page.locator("#play").is_visible()
    page.click("#menu")
    assert page.locator("#layers").is_visible()
    page.locator("#charts canvas").first.scroll_into_view_if_needed()
    assert page.locator("#charts canvas").first.bounding_box()["width"] > 200
    page.click("#menu")
    assert not page.locator("#panel").is_visible()


@pytest.mark.parametrize("size", [DESK, (1400, 900), PHONE], ids=["desk", "large", "phone"])
def test_no_camera_cuts_what_moves(viewer, look, size):
    page = look(viewer.url, size)
    for camera in page.evaluate("page.stage.cameras.map(c => c.name)"):
        page.evaluate("name => page.go(page.stage.cameras.find(c => c.name === name))", camera)
        assert page.evaluate("page.fits(page.corners())"), camera


def test_keys_play_step_choose_cameras_and_show_help(viewer, look, shot):
    page = look(viewer.url)
    before = shot(page)
    page.keyboard.press("3")
    assert np.abs(shot(page) - before).mean() > 3.0
    page.keyboard.press("ArrowRight")
    page.wait_for_selector("#scene[data-shown='1']")
    page.keyboard.press("End")
    page.wait_for_selector("#scene[data-shown='59']")
    assert "frame 60 of 60" in page.inner_text("#note")
    page.keyboard.press("Home")
    page.wait_for_selector("#scene[data-shown='0']")
    page.keyboard.press(" ")
    until(lambda: int(page.get_attribute("#scene", "data-shown")) > 5)
    page.keyboard.press(" ")
    page.keyboard.press("?")
    assert page.locator("#help").is_visible()
    page.keyboard.press("Escape")
    assert not page.locator("#help").is_visible()


def test_layers_are_switched_off_and_on(viewer, look, shot):
    page = look(viewer.url)
    before = shot(page)
    page.get_by_title("show water", exact=True).click()
    without = shot(page)
    page.get_by_title("show water", exact=True).click()
    assert np.abs(before - without).mean() > 0.5
    assert np.abs(before - shot(page)).mean() < 0.1


def test_reloaded_page_comes_back_to_its_time_and_camera(look, demo, shot):
    full = demo.demo(20)
    moving = [_moved(frame, 0.2 * i) for i, frame in enumerate(full.frames)]
    stage = Stage(**{**vars(full.stage), "cameras": (Camera("along", (3.0, -3.0, 1.5), (0, 0, 0.5), follow="base"),)})
    viewer = serve(MemoryRecording(stage, moving, full.time), port=0, open_browser=False, block=False)
    try:
        page = look(viewer.url)
        page.keyboard.press("End")
        page.wait_for_selector("#scene[data-shown='19']")
        page.wait_for_timeout(400)
        there, picture = page.evaluate("page.camera().eye"), shot(page)
        page.reload()
        page.wait_for_selector("#scene[data-shown='19']")
        assert np.allclose(page.evaluate("page.camera().eye"), there, atol=1e-3)
        assert np.abs(shot(page) - picture).mean() < 0.1
    finally:
        viewer.close()


def test_a_tab_opened_while_another_plays_starts_for_itself(viewer, look):
    first = look(viewer.url)
    start = first.evaluate("page.camera().eye")
    first.keyboard.press("2")
    first.keyboard.press(" ")
    until(lambda: int(first.get_attribute("#scene", "data-shown")) > 3)
    second = look(viewer.url)
    assert second.get_attribute("#scene", "data-shown") == "0"
    assert np.allclose(second.evaluate("page.camera().eye"), start, atol=1e-3)
    assert second.inner_text("#play") == "▶"


def test_labels_of_small_values_differ(viewer, look):
    page = look(viewer.url)
    words = page.evaluate("(() => { const t = nice(0, 1e-5, 4); return t.ticks.map(x => label(x, t.step)); })()")
    assert len(set(words)) == len(words) > 2
    assert page.evaluate("[label(0.25, 0.05), label(0, 0.05), label(1200, 200)]") == ["0.25", "0", "1200"]


def _moved(frame, by):
    poses = frame.poses.copy()
    poses[:, 0] += by
    by = np.array([by, 0.0, 0.0])
    lines = {name: LinesFrame(now.points + by, now.values) for name, now in frame.lines.items()}
    surfaces = {n: SurfaceFrame(s.vertices + by, s.faces, s.values) for n, s in frame.surfaces.items()}
    points = {name: at + by for name, at in frame.points.items()}
    return Frame(poses, frame.signals, surfaces, lines, points)


def striped(demo, frames=90):
    """A rigid block, a moving surface and a line that stand one over the other and go to and fro together."""
    vertices, faces = demo.box(0.2, 0.2, 0.2)
    stage = Stage(
        bodies=("b",),
        meshes=(Mesh("block", "b", vertices, faces, layer="bones", colour=(1.0, 0.0, 0.0)),),
        surfaces=(Surface("skin", faces, layer="skin", colour=(0.0, 1.0, 0.0)),),
        lines=(Lines("line", np.array([0, 2]), np.array([0.1]), layer="wire", colour=(0.0, 0.0, 1.0)),),
        cameras=(Camera("front", (0.0, -6.0, 0.0), (0.0, 0.0, 0.0)),),
        ground=None,
    )
    shown = []
    for i in range(frames):
        x = 1.5 * np.sin(7.0 * i)  # from frame to frame somewhere else
        surface = SurfaceFrame(vertices + np.array([x, 0, 0.4]))
        line = LinesFrame(np.array([[x, 0, -0.5], [x, 0, -0.3]]))
        shown.append(Frame(np.array([[x, 0, 0, 1, 0, 0, 0]]), {}, {"skin": surface}, {"line": line}))
    return MemoryRecording(stage, shown, np.arange(frames) / 30.0)


def test_no_frame_is_torn_however_slow_the_browser(look, demo, shot):
    viewer = serve(striped(demo), port=0, open_browser=False, block=False)
    try:
        page = look(viewer.url)
        slow = page.context.new_cdp_session(page)
        slow.send("Emulation.setCPUThrottlingRate", {"rate": 8})
        page.evaluate("page.toggle(true)")
        places = []
        for _ in range(12):
            picture = np.asarray(Image.open(io.BytesIO(page.screenshot())).convert("RGB"), dtype=float)[60:-60, :780]
            middles = [_middle(picture, channel) for channel in range(3)]
            assert np.ptp(middles) < 4.0, f"block, surface and line are at {middles}"
            places.append(middles[0])
        assert np.ptp(places) > 30.0  # it did play
    finally:
        viewer.close()


def _middle(picture, channel):
    """Mean column of the pixels of one pure colour."""
    others = picture[..., [c for c in range(3) if c != channel]].max(axis=-1)
    columns = np.nonzero(picture[..., channel] > others + 60.0)[1]
    assert len(columns), "a part is not there"
    return float(columns.mean())


def test_run_that_has_ended_becomes_its_recording(look, demo):
    recording = demo.demo(12)
    view = LiveView(recording.stage, 0, "live", first=recording.frame(0))
    try:
        page = look(view.url)
        for i in range(1, 6):
            view.push(float(recording.time[i]), recording.frame(i))
        until(lambda: page.inner_text("#clock") == f"t = {recording.time[5]:.3f} s")
        assert page.inner_text("#note") == "running"
        page.click("#play")
        until(lambda: view.paused)
        page.click("#play")
        until(lambda: not view.paused)
        view.become(recording)
        page.wait_for_selector("#scene[data-shown='11']")
        assert "of 12" in page.inner_text("#note")
        page.keyboard.press("Home")
        page.wait_for_selector("#scene[data-shown='0']")
    finally:
        view.close()


def test_buttons_ask_for_actions_of_a_live_run(look, demo):
    recording = demo.demo(12)
    actions = {"shove ahead": "push it", "shove left": "push it to its left"}
    view = LiveView(recording.stage, 0, "live", first=recording.frame(0), actions=actions)
    try:
        page = look(view.url)
        page.click("#acts button:nth-child(2)")
        until(lambda: view.asked() == ["shove left"])
        page.keyboard.press("s")
        until(lambda: view.asked() == ["shove ahead"])
        view.become(recording)
        page.wait_for_selector("#acts", state="hidden")
    finally:
        view.close()


def test_two_recordings_stand_side_by_side_or_over_each_other_on_one_time_line(look, demo, shot):
    first, second = demo.demo(30), demo.demo(60, rate=60.0)
    viewer = serve(first, second, port=0, open_browser=False, block=False)
    try:
        page = look(viewer.url)
        assert page.evaluate("page.actors.map(a => a.frame !== null)") == [True, True]
        for camera in ("front", "side"):  # neither hides the other, wherever one looks from
            page.evaluate("name => page.go(page.stage.cameras.find(c => c.name === name))", camera)
            spans = page.evaluate("""page.actors.map(a => { const c = page.camera(), x = page.corners(a).map(p => {
              const d = p.map((v, k) => v - c.eye[k]), dot = w => w[0] * d[0] + w[1] * d[1] + w[2] * d[2];
              return dot(c.right) / -dot(c.back);
            }); return [Math.min(...x), Math.max(...x)]; })""")
            assert spans[0][1] < spans[1][0] + 0.25 * (spans[0][1] - spans[0][0])  # perspective laps over a little
            assert page.evaluate("page.fits(page.corners())")
        beside = shot(page)
        page.click("#over")
        assert np.abs(shot(page) - beside).mean() > 1.0
        page.keyboard.press("End")
        page.wait_for_timeout(500)
        ends = page.evaluate("page.sources.map((s, r) => page.nearest(page.time[page.shown], s.stage.time))")
        assert np.allclose([first.time[ends[0]], second.time[ends[1]]], first.time[-1], atol=0.02)
    finally:
        viewer.close()


def test_shared_page_plays_from_a_file_as_the_server_does(look, demo, viewer, tmp_path, shot):
    recording = demo.demo(60)
    out = write_page([recording], tmp_path / "demo.html")
    page, served = look(out.as_uri()), look(viewer.url)
    for one in (page, served):
        one.evaluate("page.seek(37)")
        one.wait_for_selector("#scene[data-shown='37']")
    assert np.abs(shot(page) - shot(served)).mean() < 0.5
    said = []
    for one in (page, served):  # what is known of a muscle and of a joint, too
        said.append([])
        for name in ("front", "lower"):
            one.fill("#find", name)
            one.locator("#found button").first.click()
            one.wait_for_selector("#chosen-charts canvas")
            said[-1].append(one.inner_text("#chosen-facts"))
            said[-1].append(one.evaluate("page.own.map(o => o.chart.curves.map(c => Array.from(c.values)))"))
    assert said[0][::2] == said[1][::2]
    for here, there in zip(
        np.concatenate([np.ravel(x) for x in said[0][1]]), np.concatenate([np.ravel(x) for x in said[1][1]])
    ):
        assert np.isclose(here, there, rtol=2e-3, atol=1e-3)
    page.keyboard.press(" ")
    until(lambda: page.get_attribute("#scene", "data-shown") != "37")
