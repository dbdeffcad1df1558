"""`vitruvian verify` and `vitruvian bench`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

import typer

from vitruvian.cli.interruption import at_once
from vitruvian.cli.output import complain, duration, number, print_json, print_table, progress_bar, remark
from vitruvian.cli.running import Json

Cases = Annotated[
    list[str] | None,
    typer.Argument(metavar="[CASE]...", help="A chapter, chapter/case, or the beginning of one; all without it."),
]

PEERS = ".venv/bin/pip install -e '.[peers]'"


def verify(cases: Cases = None, json: Json = False) -> int:
    """Measure the claims of the verification book."""
    from vitruvian.verify.book import check_claim, find_claims

    outcomes, stopped = _each(find_claims(cases or []), check_claim, "verifying")
    passed, failed, skipped = (sum(outcome.passed is kind for outcome in outcomes) for kind in (True, False, None))
    table, rows = {}, []
    for outcome in outcomes:
        finding, verdict = outcome.finding, {True: "passed", False: "failed", None: "skipped"}[outcome.passed]
        entry: dict[str, Any] = {
            "value": finding.value if finding else None,
            "reference": finding.reference if finding else None,
            "tolerance": finding.tolerance if finding else None,
            "unit": finding.unit if finding else "",
            "passed": outcome.passed,
            "seconds": outcome.seconds,
            "text": outcome.claim.text,
            "detail": outcome.reason or (finding.detail if finding else ""),
        }
        table[outcome.claim.name] = entry
        figures = [number(entry[key]) for key in ("value", "reference", "tolerance")]
        rows.append([outcome.claim.name, *figures, entry["unit"], verdict, duration(outcome.seconds), entry["detail"]])
    if json:
        counts = {"passed": passed, "failed": failed, "skipped": skipped}
        print_json({"cases": table, **counts} | ({"interrupted": True} if stopped else {}))
    else:
        columns = ("claim", "value", "reference", "tolerance", "unit", "", "took", "detail")
        print_table("", columns, rows, right=("value", "reference", "tolerance", "took"))
        print(f"\n{passed} passed, {failed} failed, {skipped} skipped", flush=True)
    if skipped:
        remark(f"what was skipped needs packages that are not installed; from a clone `{PEERS}` brings the peers")
    if stopped:
        complain(stopped)
        return 130
    return 0 if passed and not failed else 1


def bench(cases: Cases = None, json: Json = False) -> int:
    """Time our solvers and the installed peers in the same run."""
    from vitruvian.benchmarks.suite import find_timings, measure

    outcomes, stopped = _each(find_timings(cases or []), measure, "timing")
    table, rows = {}, []
    for outcome in outcomes:
        timing = outcome.timing
        entry: dict[str, Any] = {
            "seconds": timing.seconds if timing else None,
            "peers": dict(timing.peers) if timing else {},
            "ratio": timing.ratio if timing else None,
            "figures": dict(timing.figures) if timing else {},
            "text": outcome.case.text,
            "detail": outcome.reason or (timing.detail if timing else ""),
        }
        table[outcome.case.name] = entry
        peers = ", ".join(f"{name} {duration(seconds)}" for name, seconds in entry["peers"].items())
        took = duration(entry["seconds"]) or ("skipped" if outcome.skipped else "failed")
        extra = [f"{name} {number(value)}" for name, value in entry["figures"].items()]
        ratio = "" if entry["ratio"] is None else f"{entry['ratio']:.2f}"
        rows.append([outcome.case.name, took, peers, ratio, ", ".join([entry["detail"], *extra]).strip(", ")])
    if json:
        print_json({"cases": table} | ({"interrupted": True} if stopped else {}))
    else:
        print_table("", ("case", "ours", "peers", "ratio", "detail"), rows, right=("ours", "ratio"))
    if stopped:
        complain(stopped)
        return 130
    return 1 if any(outcome.failed for outcome in outcomes) else 0


def _each(cases: list[Any], measure: Callable[[Any], Any], doing: str) -> tuple[list[Any], str]:
    """What became of each case; where the user broke it off, of those before, and a line that says so."""
    outcomes: list[Any] = []
    try:
        with progress_bar(doing) as progress, at_once() as stop:
            for i, case in enumerate(cases):
                progress(i, len(cases))
                outcome = measure(case)
                if stop.asked:
                    raise KeyboardInterrupt
                outcomes.append(outcome)
    except KeyboardInterrupt:
        return outcomes, f"interrupted after {len(outcomes)} of {len(cases)}"
    return outcomes, ""
