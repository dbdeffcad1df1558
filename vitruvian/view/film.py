"""Pictures into a film (h264), by the ffmpeg that imageio-ffmpeg brings.

ffmpeg is run here rather than by imageio-ffmpeg, which lets its complaints through to the terminal: what it says is
kept, and told in one line if it fails. It does not hear Ctrl-C; it is ended when the block is left by an error.
"""

from __future__ import annotations

import errno
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from fractions import Fraction
from pathlib import Path
from typing import IO

import numpy as np


@contextmanager
def encoder(
    out: Path, size: tuple[int, int], rate: float, sound: tuple[Path, float] | None = None
) -> Iterator[Callable[[np.ndarray], None]]:
    """Yields a function that adds one picture, sRGB bytes (height, width, 3); sides must be even. sound: a file, and
    the seconds after which it begins. Errors: `OSError`."""
    import imageio_ffmpeg

    command = [imageio_ffmpeg.get_ffmpeg_exe(), "-y", "-v", "error", "-nostdin"]
    command += ["-f", "rawvideo", "-pix_fmt", "rgb24", "-s", f"{size[0]}x{size[1]}"]
    command += ["-r", str(Fraction(rate).limit_denominator(100_000)), "-i", "pipe:0"]
    if sound is None:
        command += ["-an"]
    else:
        command += ["-itsoffset", f"{sound[1]:.6f}", "-i", str(sound[0])]
        command += ["-map", "0:v:0", "-map", "1:a:0", "-c:a", "aac", "-b:a", "128k"]
    command += ["-vcodec", "libx264", "-pix_fmt", "yuv420p", "-crf", "17", "-preset", "medium", "-tune", "animation"]
    command += [*(["-movflags", "+faststart"] if out.suffix.lower() != ".mkv" else []), str(out)]
    with tempfile.TemporaryFile() as said:
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stderr=said, start_new_session=True)
        pipe = process.stdin
        assert pipe is not None
        try:
            try:
                yield lambda picture: _feed(pipe, picture)
                pipe.close()
            except BrokenPipeError:
                pass  # it has ended by itself, and said why
            status = process.wait()
        except BaseException:
            process.kill()
            process.wait()
            raise
        finally:
            with suppress(BrokenPipeError):
                pipe.close()
        if status or (out.is_file() and out.stat().st_size == 0):
            said.seek(0)
            raise _failure(said.read().decode(errors="replace"))


def _feed(pipe: IO[bytes], picture: np.ndarray) -> None:
    pipe.write(picture.tobytes())


def _failure(said: str) -> OSError:
    if "No space left on device" in said:
        return OSError(errno.ENOSPC, "No space left on device")
    lines = said.strip().splitlines()
    return OSError(f"the encoder failed: {lines[0].strip()[:200]}" if lines else "the encoder failed")
