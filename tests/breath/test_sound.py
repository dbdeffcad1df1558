"""Sounds in: what is laughter, what is not, and files that cannot be used."""

import warnings

import numpy as np
import pytest

from vitruvian.breath import Lungs
from vitruvian.control.behaviour import Behaviour
from vitruvian.control.behaviour.sound import Call, Laughter, laughter, synthesised
from vitruvian.errors import InputError
from vitruvian.exchange.sound_file import read_sound, write_sound
from vitruvian.systems import torso_fit

RATE = 16_000.0


def test_calls_of_a_synthesised_laugh_are_found():
    for calls, period in ((4, 0.2), (6, 0.21), (9, 0.18)):
        found = laughter(synthesised(calls, period), RATE)
        assert len(found.calls) == calls
        assert np.median(np.diff([c.peak for c in found.calls])) == pytest.approx(period, abs=0.01)
        pressure = found.pressure(found.time)
        assert pressure.max() == pytest.approx(1000.0)
        assert pressure[found.time < found.calls[0].start].max(initial=0.0) == 0.0


def test_two_bouts_are_two():
    one = synthesised(5)
    found = laughter(np.concatenate([one, np.zeros(int(0.6 * RATE)), one]), RATE)
    assert [len(b) for b in found.bouts] == [5, 5]


@pytest.mark.parametrize(
    ("sound", "said"),
    [
        (np.zeros(16_000), "silent"),
        (np.zeros(100), "at least 0.2 s"),
        (np.sin(2 * np.pi * 220 * np.arange(32_000) / RATE), "not sound like laughter"),
        (np.random.default_rng(0).normal(size=32_000), "not sound like laughter"),
        (synthesised(6, 0.5), "not sound like laughter"),
        (np.full(16_000, np.nan), "not numbers"),
        (np.zeros((16_000, 2)), "mono"),
    ],
)
def test_what_is_not_laughter_is_refused(sound, said):
    with pytest.raises(InputError, match=said):
        laughter(sound, RATE)


def test_files(tmp_path):
    import soundfile

    laugh = synthesised(5)
    for name, kind in (("a.wav", "PCM_16"), ("b.wav", "PCM_U8"), ("c.flac", "PCM_16"), ("d.ogg", "VORBIS")):
        soundfile.write(tmp_path / name, laugh, int(RATE), subtype=kind)
        assert len(laughter(*read_sound(tmp_path / name)).calls) == 5
    soundfile.write(tmp_path / "stereo.wav", np.stack([laugh, 0.5 * laugh], axis=1), int(RATE))
    assert len(laughter(*read_sound(tmp_path / "stereo.wav")).calls) == 5
    write_sound(tmp_path / "clipped.wav", np.clip(8.0 * laugh, -1.0, 1.0), RATE)
    with pytest.warns(UserWarning, match="clipped"):
        read_sound(tmp_path / "clipped.wav")
    soundfile.write(tmp_path / "empty.wav", np.zeros(0), int(RATE))
    (tmp_path / "text.wav").write_text("no sound")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for name, said in (("empty.wav", "empty"), ("text.wav", "not a sound file"), ("none.wav", "no sound file")):
            with pytest.raises(InputError, match=said):
                read_sound(tmp_path / name)


def test_a_film_carries_its_sound(tmp_path):
    import subprocess

    import imageio_ffmpeg

    from vitruvian.view.film import encoder

    write_sound(tmp_path / "a.wav", synthesised(4), RATE)
    for sound, wanted in ((None, False), ((tmp_path / "a.wav", 0.3), True)):
        with encoder(tmp_path / "a.mp4", (64, 48), 25.0, sound) as add:
            for k in range(40):
                add(np.full((48, 64, 3), 5 * k, np.uint8))
        said = subprocess.run(
            [imageio_ffmpeg.get_ffmpeg_exe(), "-i", str(tmp_path / "a.mp4")], capture_output=True, text=True
        ).stderr
        assert "Video: h264" in said
        assert ("Audio: aac" in said) == wanted


def test_a_missed_call_is_searched_for_from_a_plain_guess(monkeypatch):
    """Lungs that answer to slow waves alone: from the call before, which is fast, there is no way to what is wanted."""
    aim = np.full(40, 500.0)

    def run(torso, curves, state, at, end, step):
        return np.zeros(40) if curves[-1].period < 1.0 / 6.0 else aim

    monkeypatch.setattr(torso_fit, "_run", run)
    monkeypatch.setattr(torso_fit, "copy_state", lambda state: state)
    last = np.array([0.1, 0.0, 9.0, 0.1, 0.01, 0.0, 9.0])
    found = torso_fit._fit_call([None, None], [], None, 0, 40, 5e-3, Call(0.2, 0.4, 0.3), aim, 0.0, last)
    assert found[6] < 6.0


def test_a_bout_is_breathed_in_for_by_what_it_will_lose():
    """A steady pressure P blows g sqrt(P / k) T through the glottis; a breath holds on while the bout begins."""
    calls = tuple(Call(0.2 * k, 0.2 * (k + 1), 0.2 * k + 0.1) for k in range(10))
    time = np.linspace(-1.0, 3.0, 4001)
    steady = Laughter(time, np.ones_like(time), (calls,))
    k = Lungs().airway
    lost = torso_fit._air_lost(steady, calls, 2.0, k)
    assert lost == pytest.approx((1.0 - torso_fit.VOICED) * np.sqrt(2000.0 / k) * 2.0, rel=1e-3)
    assert torso_fit._air_lost(steady, calls[:5], 2.0, k) == pytest.approx(0.5 * lost, rel=1e-2)
    breath = Behaviour("", tuple(torso_fit._breath_in(0.0, 1.2, 3.2, 0.2)))
    assert breath.at(1.0)["diaphragm"] == pytest.approx(0.2)
    assert 0.0 < breath.at(1.8)["diaphragm"] <= 0.2 * torso_fit.BRAKE + 1e-9
    assert breath.at(3.19)["diaphragm"] < 1e-3
