"""The viewer in a real browser: Debian's Chromium, driven by Playwright, with its software renderer."""

import io
import shutil
import socket
import time

import numpy as np
import pytest
from PIL import Image

from vitruvian.view import serve

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed (apt-get install chromium)")
FLAGS = (
    "--use-gl=angle",
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
    "--no-sandbox",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
)
LAYER_ORDER = ("bones", "room", "water", "flesh", "skin", "muscles", "wire", "spray")  # as the demo declares them
SCENE = {"x": 340, "y": 150, "width": 420, "height": 440}  # between the two panels, below the notice
PLOTS = {"x": 0, "y": 60, "width": 310, "height": 440}


def shot(page, clip) -> np.ndarray:
    return np.asarray(Image.open(io.BytesIO(page.screenshot(clip=clip))).convert("RGB"), dtype=float)


def settled(page, clip, seconds=20.0) -> np.ndarray:
    """The picture once two shots in a row agree."""
    end, last = time.monotonic() + seconds, shot(page, clip)
    while time.monotonic() < end:
        page.wait_for_timeout(300)
        now = shot(page, clip)
        if np.abs(now - last).mean() < 0.05 and now.std() > 5.0:
            return now
        last = now
    raise AssertionError("the picture did not come to rest")


@pytest.fixture(scope="module")
def viewer(demo):
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    viewer = serve(demo.demo(90), port=port, open_browser=False, block=False)
    yield viewer
    viewer.close()


@pytest.fixture(scope="module")
def page(viewer):
    sync = pytest.importorskip("playwright.sync_api", reason="playwright is not installed (pip install playwright)")
    with sync.sync_playwright() as play:
        browser = play.chromium.launch(executable_path=CHROMIUM, args=list(FLAGS))
        page = browser.new_page(viewport={"width": 1120, "height": 680})
        page.troubles = []
        page.elsewhere = []
        page.on("console", lambda m: page.troubles.append(m.text) if m.type == "error" else None)
        page.on("pageerror", lambda e: page.troubles.append(str(e)))
        home = (viewer.page.url, "data:", "blob:", "ws:")
        page.on("request", lambda r: None if r.url.startswith(home) else page.elsewhere.append(r.url))
        page.goto(viewer.page.url)
        page.get_by_text("Layers").wait_for(timeout=60_000)
        yield page
        browser.close()


def test_page_loads_without_errors_and_asks_nothing_of_the_internet(page):
    picture = settled(page, SCENE)
    assert page.get_by_text("t = 0.000 s").is_visible()
    assert picture.std() > 10.0
    assert page.troubles == []
    assert page.elsewhere == []


def test_layer_toggle_changes_the_picture_and_back(page):
    before = settled(page, SCENE)
    box = page.get_by_role("checkbox").nth(1 + LAYER_ORDER.index("water"))
    box.click()
    without = settled(page, SCENE)
    box.click()
    again = settled(page, SCENE)
    assert np.abs(before - without).mean() > 1.0
    assert np.abs(before - again).mean() < 0.2


def test_play_advances_the_time_and_the_plots_follow(page, viewer):
    plots = settled(page, PLOTS)
    page.get_by_role("button", name="Play").click()
    page.get_by_role("button", name="Pause").wait_for()
    page.wait_for_timeout(700)
    page.get_by_role("button", name="Pause").click()
    page.get_by_role("button", name="Play").wait_for()
    assert viewer.index > 5
    page.get_by_text(f"t = {viewer.times[viewer.index]:.3f} s").wait_for(timeout=10_000)
    assert np.abs(settled(page, PLOTS) - plots).mean() > 0.3
    assert page.troubles == []


def test_camera_button_moves_the_view(page):
    before = settled(page, SCENE)
    page.get_by_text("top", exact=True).click()
    page.wait_for_timeout(300)
    assert np.abs(settled(page, SCENE) - before).mean() > 3.0
    assert page.troubles == []
