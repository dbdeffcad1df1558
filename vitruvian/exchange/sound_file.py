"""Sound files in: WAV, FLAC, OGG, MP3 and whatever else libsndfile reads; always mono, -1 to 1."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np

from vitruvian.errors import InputError

Array = np.ndarray
LONGEST = 120.0  # [s]
MOST_SAMPLES = 48_000_000  # of all channels: 120 s of them at 200 kHz in stereo
CLIPPED = 0.01  # part of the samples at full scale


def read_sound(path: str | Path) -> tuple[Array, float]:
    """Samples (n,) and their rate [1/s]; several channels are averaged. A warning if it is clipped."""
    import soundfile

    file = Path(path)
    if not file.is_file():
        raise InputError(f"no sound file '{file}'")
    if not file.stat().st_size:
        raise InputError(f"{file.name}: the file is empty")
    try:
        info = soundfile.info(str(file))
        if info.frames and info.frames / info.samplerate > LONGEST:
            raise InputError(f"{file.name}: {info.frames / info.samplerate:.0f} s; the longest is {LONGEST:g} s")
        if info.frames * info.channels > MOST_SAMPLES:  # silence packs small
            raise InputError(
                f"{file.name}: would unpack to {info.frames * info.channels} samples; at most {MOST_SAMPLES}"
            )
        sound, rate = soundfile.read(str(file), dtype="float64", always_2d=True)
    except (soundfile.LibsndfileError, RuntimeError, TypeError) as error:
        said = str(error).splitlines()[0].split(": ")[-1]
        raise InputError(f"{file.name}: not a sound file that can be read ({said})") from None
    if not len(sound):
        raise InputError(f"{file.name}: the sound is empty")
    if not np.isfinite(sound).all():
        raise InputError(f"{file.name}: the sound holds values that are not numbers")
    if np.mean(np.abs(sound) > 0.999) > CLIPPED:
        warnings.warn(f"{file.name} is clipped: its loud calls are cut off, and so is the pressure", stacklevel=2)
    return sound.mean(axis=1), float(rate)


def write_sound(path: str | Path, sound: Array, rate: float) -> None:
    """A mono sound, 16 bit."""
    import soundfile

    soundfile.write(str(path), sound, round(rate), subtype="PCM_16")
