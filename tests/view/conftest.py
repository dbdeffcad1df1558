"""For all tests of the eyes: the sample stage, and a real browser to look at it."""

import importlib.util
import io
import shutil
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

_spec = importlib.util.spec_from_file_location("view_demo", Path(__file__).with_name("demo.py"))
_demo = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(_demo)
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
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
PATIENCE = 60_000  # [ms], on a busy machine


@pytest.fixture(scope="session")
def demo():
    """The module `demo.py` beside this file."""
    return _demo


@pytest.fixture(scope="module")
def chromium():
    """Debian's Chromium, driven by Playwright, with its software renderer."""
    if CHROMIUM is None:
        pytest.skip("chromium is not installed (apt-get install chromium)")
    sync = pytest.importorskip("playwright.sync_api", reason="playwright is not installed (pip install playwright)")
    with sync.sync_playwright() as play:
        browser = play.chromium.launch(executable_path=CHROMIUM, args=list(FLAGS))
        yield browser
        browser.close()


@pytest.fixture
def look(chromium):
    """Open a page of a given size; whatever it complains of, or asks of elsewhere, fails the test."""
    pages, troubles = [], []

    def at(url, size=(1120, 680)):
        page = chromium.new_page(viewport={"width": size[0], "height": size[1]})
        page.set_default_timeout(PATIENCE)
        page.on("console", lambda m: troubles.append(m.text) if m.type == "error" else None)
        page.on("pageerror", lambda e: troubles.append(str(e)))
        home = (url.split("#")[0], "data:", "blob:")
        page.on("request", lambda r: None if r.url.startswith(home) else troubles.append(r.url))
        page.goto(url)
        page.wait_for_selector("#scene[data-shown]")
        pages.append(page)
        return page

    yield at
    for page in pages:
        page.close()
    assert troubles == []


@pytest.fixture
def shot():
    """The scene of a page as pixels, without what stands over it."""

    def of(page) -> np.ndarray:
        page.wait_for_timeout(250)
        return np.asarray(Image.open(io.BytesIO(page.locator("#scene").screenshot())).convert("RGB"), dtype=float)

    return of


@pytest.fixture(scope="module")
def viewer(demo):
    """The sample stage, served."""
    from vitruvian.view import serve

    viewer = serve(demo.demo(60), port=0, open_browser=False, block=False)
    yield viewer
    viewer.close()
