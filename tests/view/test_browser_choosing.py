"""Choosing in the viewer, in a real browser: click, search, hide, what is told, and that a reloaded page keeps it."""

from dataclasses import replace

import numpy as np

from vitruvian.view import LiveView, MemoryRecording, serve
from vitruvian.world import Signal


def test_click_on_a_muscle_says_what_it_is(viewer, look, shot):
    page = look(viewer.url)
    page.fill("#find", "fro")
    page.locator("#found button", has_text="front").click()
    facts = page.inner_text("#chosen")
    assert "front" in facts
    assert "activation" in facts
    assert "length" in facts
    assert "force\n50 N" in facts  # at t = 0
    page.wait_for_selector("#chosen-charts canvas")
    titles = page.locator("#chosen-charts .chart-head").all_inner_texts()
    assert titles == ["activation", "force [N]", "length [m]"]
    page.keyboard.press("Escape")
    assert not page.locator("#chosen").is_visible()
    # the middle of that muscle on the screen
    x, y = page.evaluate("""() => {
      const p = page.actors[0].frame.lines[0].points, a = 3 * (page.stage.lines[0].offsets[0] + 1), c = page.camera();
      const d = [0, 1, 2].map(k => p[a + k] - c.eye[k]), dot = v => v[0] * d[0] + v[1] * d[1] + v[2] * d[2];
      const z = -dot(c.back), { clientWidth: w, clientHeight: h } = page.canvas;
      return [(dot(c.right) / z / (c.tanY * c.aspect) + 1) / 2 * w, (1 - dot(c.up) / z / c.tanY) / 2 * h];
    }""")
    page.mouse.click(x, y)
    assert page.locator("#chosen").is_visible()
    assert page.inner_text("#chosen-name") in ("front", "back", "left", "right")
    before = shot(page)
    page.keyboard.press("i")
    alone = shot(page)
    assert np.abs(alone - before).mean() > 1.0
    page.keyboard.press("a")
    assert np.abs(shot(page) - before).mean() < 0.1


def test_a_bone_says_what_its_joint_has_turned(viewer, look):
    page = look(viewer.url)
    page.keyboard.press("End")
    page.wait_for_selector("#scene[data-shown='59']")
    page.keyboard.press("/")
    page.keyboard.type("forearm")  # by its name in words
    page.locator("#found button", has_text="forearm, left (lower)").click()
    facts = page.inner_text("#chosen-facts")
    assert "joint to\nupper" in facts
    elbow = np.degrees(0.5 * np.sin(3.0 * 59 / 30.0))  # beyond the rest's bend
    assert f"about x, y, z\n0.0°, {elbow:.1f}°, 0.0°" in facts.replace("-0.0", "0.0")
    page.wait_for_selector("#chosen-charts canvas")
    assert page.locator("#chosen-charts .chart-head").first.inner_text() == "turn of the joint [deg]"
    curve = page.evaluate("page.own[0].chart.curves[1].values")
    assert np.allclose(curve, np.degrees(0.5 * np.sin(3.0 * np.arange(60) / 30.0)), atol=0.01)


def test_forces_are_drawn_as_arrows(viewer, look, shot):
    page = look(viewer.url)
    before = shot(page)
    page.keyboard.press("f")
    assert np.abs(shot(page) - before).mean() > 0.05


def test_forces_on_several_bones_start_at_these_and_their_scale_is_told(look, demo):
    recording = demo.demo(3)
    bones = ("upper", "lower")
    signals = (Signal("flow", "N", "force of the flow", tuple(f"{b} {c}" for b in bones for c in "xyz")),)
    pushes = np.array([0.0, 0.0, 40.0, 30.0, 0.0, 0.0])
    frames = [replace(frame, signals={"flow": pushes}) for frame in recording.frames]
    stage = replace(recording.stage, signals=signals)
    viewer = serve(MemoryRecording(stage, frames, recording.time), port=0, open_browser=False, block=False)
    try:
        page = look(viewer.url)
        page.wait_for_function("page.signals")
        page.evaluate("page.told = []; page.painter.arrow = (from, to) => page.told.push([from, to]); 0")
        page.keyboard.press("f")
        page.wait_for_selector("#forces i")
        (here, there), (other, tip) = page.evaluate("page.told.slice(0, 2)")
        size = page.evaluate("ARROW * page.large")
        assert np.allclose(np.subtract(there, here), [0.0, 0.0, size], atol=1e-4)
        assert np.allclose(here, page.evaluate("page.middleOf(page.actors[0], 1)"))
        assert np.allclose(np.subtract(tip, other), [0.75 * size, 0.0, 0.0], atol=1e-4)
        assert page.inner_text("#forces").strip().startswith("force of the flow: 10 cm for ")
        page.keyboard.press("f")
        page.wait_for_selector("#forces i", state="detached")
    finally:
        viewer.close()


def test_the_force_of_the_ground_acts_at_its_centre_of_pressure(look, demo):
    recording = demo.demo(3)
    axes = ("left", "back", "up")
    signals = (Signal("ground", "N", components=axes), Signal("pressure", "m", components=axes[:2]))
    frames = [
        replace(frame, signals={"ground": np.array([0.0, 0.0, 700.0]), "pressure": np.array([0.25, -0.5 * i])})
        for i, frame in enumerate(recording.frames)
    ]
    stage = replace(recording.stage, signals=signals, ground=0.125)
    standing = serve(MemoryRecording(stage, frames, recording.time), port=0, open_browser=False, block=False)
    try:
        page = look(standing.url)
        page.wait_for_function("page.signals")
        told = "(i => { const a = page.actors[0]; return page.actsAt(a, a.stage.signals[0], page.signals[0], i); })"
        assert page.evaluate(f"{told}(2)") == [0.25, -1.0, 0.125]
        page.evaluate("page.signals[0].series[1][0] = NaN")  # in the air: below the middle of the bones
        assert page.evaluate(f"{told}(0)")[2] == 0.125
        page.keyboard.press("f")
        page.wait_for_selector("#arrows:checked", state="attached")
    finally:
        standing.close()


def test_parts_are_found_by_words_and_shown_alone(look, demo, shot):
    recording = demo.demo(3)
    lines = next(line for line in recording.stage.lines if line.names)
    named = ("rectus_femoris_01_l", "rectus_femoris_01_r", "vastus_lateralis_02_l", *lines.names[3:])
    stage = replace(
        recording.stage, lines=tuple(replace(x, names=named) if x is lines else x for x in recording.stage.lines)
    )
    viewer = serve(MemoryRecording(stage, recording.frames, recording.time), port=0, open_browser=False, block=False)
    try:
        page = look(viewer.url)
        for words, expected in (
            (
                "rectus fem",
                ["rectus femoris 1, left (rectus_femoris_01_l)", "rectus femoris 1, right (rectus_femoris_01_r)"],
            ),
            ("Femoris left", ["rectus femoris 1, left (rectus_femoris_01_l)"]),
            ("vastus_lat", ["vastus lateralis 2, left (vastus_lateralis_02_l)"]),
            ("no such thing", []),
        ):
            page.fill("#find", words)
            assert page.locator("#found button").all_inner_texts() == expected
        page.fill("#find", "rectus left")
        before = shot(page)
        page.click("#found-alone")
        shown = "page.stage.lines[0].names.map((n, i) => page.lineShown(page.actors[0], 0, i))"
        assert page.evaluate(shown) == [name == "rectus_femoris_01_l" for name in named]
        assert np.abs(shot(page) - before).mean() > 1.0
        page.click("#found-all")
        assert all(page.evaluate(shown))
    finally:
        viewer.close()


def test_a_reloaded_page_keeps_what_was_chosen_and_hidden(viewer, look, shot):
    page = look(viewer.url)
    page.get_by_title("show water", exact=True).click()
    slider = page.get_by_title("opacity of bones")
    slider.evaluate("r => { r.value = 0.4; r.dispatchEvent(new Event('input')); }")
    page.fill("#find", "back")
    page.locator("#found button").first.click()
    page.keyboard.press("Escape")
    page.keyboard.press("f")
    page.fill("#find", "front")
    page.locator("#found button").first.click()
    page.click("#hide")
    page.fill("#find", "lower")
    page.locator("#found button").first.click()
    page.wait_for_timeout(400)
    picture, facts = shot(page), page.inner_text("#chosen-facts")
    page.reload()
    page.wait_for_selector("#chosen-charts canvas")
    assert page.inner_text("#chosen-facts") == facts
    assert not page.is_checked("[title='show water']")
    assert page.is_checked("#arrows")
    assert page.evaluate("[[...page.hidden], page.opacities.bones]") == [["line front"], 0.4]
    assert np.abs(shot(page) - picture).mean() < 0.1
    page.goto(viewer.url + "#shown=%7Bnonsense")  # does no harm
    page.reload()
    page.wait_for_selector("#scene[data-shown]")
    assert page.is_checked("[title='show water']")


def test_what_was_chosen_while_it_ran_gets_its_curves_when_it_has_ended(look, demo):
    recording = demo.demo(12)
    view = LiveView(recording.stage, 0, "live", first=recording.frame(0))
    try:
        page = look(view.url)
        page.fill("#find", "front")
        page.locator("#found button").first.click()
        assert "activation" in page.inner_text("#chosen-facts")
        assert page.locator("#chosen-charts canvas").count() == 0
        view.become(recording)
        page.wait_for_selector("#chosen-charts canvas")
        assert page.inner_text("#chosen-name") == "front"
    finally:
        view.close()
