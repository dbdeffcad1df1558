"""Reads a C3D file with ezc3d in a process of its own: `python c3d_worker.py FILE OUT.npz`.

The library is native code that a damaged file can crash or keep busy for ever; here that ends this process and not the
caller's (`exchange.c3d`). It knows nothing of the package, so that it starts at once.
"""

from __future__ import annotations

import json
import resource
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import ezc3d
import numpy as np

MEMORY, PER_BYTE, MOST_MEMORY = (
    3 << 29,
    16,
    8 << 30,
)  # [bytes] in all: for libraries, for each byte of the file, at most
SECONDS, BYTES_A_SECOND = 4, 5_000_000  # of processor, and as many more as the file is long
OUTPUTS = ("ANGLES", "FORCES", "MOMENTS", "POWERS", "SCALARS")


def main(path: str, out: str) -> None:
    size = Path(path).stat().st_size
    memory, seconds = min(MEMORY + PER_BYTE * size, MOST_MEMORY), SECONDS + size // BYTES_A_SECOND
    with suppress(OSError, ValueError):  # some systems know no such limit
        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    with suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    trouble = ""
    try:
        data: Any = ezc3d.c3d(path, extract_forceplat_data=True)
    except Exception as error:
        data = ezc3d.c3d(path)  # a plate that cannot be read shall not hide the markers' own fault
        trouble = str(error)
    parameters = data["parameters"]
    point = parameters["POINT"]
    about: dict[str, Any] = {
        "rate": float(data["header"]["points"]["frame_rate"]),
        "unit": _words(point, "UNITS")[:1],
        "labels": _words(point, "LABELS") + _words(point, "LABELS2"),
        "outputs": [word for kind in OUTPUTS for word in _words(point, kind)],
        "trouble": trouble,
        "plates_used": int(
            np.ravel(parameters.get("FORCE_PLATFORM", {}).get("USED", {"value": [0]})["value"] or [0])[0]
        )
        if trouble
        else 0,
        "plates": [],
    }
    arrays: dict[str, np.ndarray] = {"points": np.asarray(data["data"]["points"], dtype=float)[:3]}
    for k, plate in enumerate(data["data"].get("platform", [])):
        about["plates"].append([str(plate[f"unit_{word}"]).strip() for word in ("force", "moment", "position")])
        for word in ("force", "moment", "corners"):
            arrays[f"{word}{k}"] = np.asarray(plate[word], dtype=float)
    arrays["about"] = np.array(json.dumps(about))
    np.savez(out, **arrays)  # type: ignore[arg-type]


def _words(group: Any, name: str) -> list[str]:
    found = group.get(name, {"value": []})["value"]
    return [str(word).strip() for word in (found if found is not None else [])]


if __name__ == "__main__":
    try:
        main(*sys.argv[1:3])
    except Exception as error:
        print(" ".join(f"{type(error).__name__}: {error}".split())[:200], file=sys.stderr)
        sys.exit(3)
