"""Add measured chapters to the book page of the site: merges outputs of `vitruvian verify` into docs/book.json.

    vitruvian verify skeleton --json > skeleton.json
    python docs/make_book.py skeleton.json

Each file replaces what was known of its claims, with the day on which it was written; claims that have left the book
are dropped. So the book can be measured chapter by chapter, and files from several machines be put together.
"""

from __future__ import annotations

import json
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
BOOK = HERE / "book.json"
KEPT = ("value", "reference", "tolerance", "unit", "passed", "seconds", "detail")


def merged(book: dict[str, Any], files: list[Path], claims: list[str]) -> dict[str, Any]:
    """The cases of the book with those of `files` in place of older ones, in the order of `claims`."""
    cases = dict(book.get("cases", {}))
    for file in files:
        found = json.loads(file.read_text(encoding="utf-8"))["cases"]
        day = datetime.fromtimestamp(file.stat().st_mtime, UTC).date().isoformat()
        for name, case in found.items():
            cases[name] = {key: _short(case[key]) for key in KEPT} | {"on": day}
    return {"cases": {name: cases[name] for name in claims if name in cases}}


def _short(value: Any) -> Any:
    return float(f"{value:.6g}") if isinstance(value, float) else value


def main(files: list[str]) -> int:
    if not files:
        print("usage: python docs/make_book.py FILE.json…   (each from `vitruvian verify CHAPTER --json`)")
        return 2
    from vitruvian.verify.book import find_claims

    claims = [claim.name for claim in find_claims([])]
    known = json.loads(BOOK.read_text(encoding="utf-8")) if BOOK.is_file() else {}
    book = merged(known, [Path(name) for name in files], claims)
    BOOK.write_text(json.dumps(book, indent=1) + "\n", encoding="utf-8")
    print(f"{BOOK.name}: {len(book['cases'])} of {len(claims)} claims measured")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
