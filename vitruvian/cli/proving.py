"""`vitruvian verify` and `vitruvian bench`."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from vitruvian.cli.output import duration, number, print_json, print_table, progress_bar
from vitruvian.cli.running import Json

Cases = Annotated[
    list[str] | None,
    typer.Argument(metavar="[CASE]...", help="A chapter, chapter/case, or the beginning of one; all without it."),
]


def verify(cases: Cases = None, json: Json = False) -> int:
    """Measure the claims of the verification book anew."""
    from vitruvian.verify.book import check_claim, find_claims

    claims = find_claims(cases or [])
    outcomes = []
    with progress_bar("verifying") as progress:
        for i, claim in enumerate(claims):
            progress(i, len(claims))
            outcomes.append(check_claim(claim))
    good = all(outcome.passed is not False for outcome in outcomes)
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
        print_json({"cases": table, "passed": good})
    else:
        columns = ("claim", "value", "reference", "tolerance", "unit", "", "took", "detail")
        print_table("", columns, rows, right=("value", "reference", "tolerance", "took"))
        counts = [sum(outcome.passed is kind for outcome in outcomes) for kind in (True, False, None)]
        print(f"\n{counts[0]} passed, {counts[1]} failed, {counts[2]} skipped")
    return 0 if good else 1


def bench(cases: Cases = None, json: Json = False) -> int:
    """Time our ways beside those of the peers that are installed, in the same run."""
    from vitruvian.benchmarks.suite import find_timings, measure

    timings = find_timings(cases or [])
    outcomes = []
    with progress_bar("timing") as progress:
        for i, case in enumerate(timings):
            progress(i, len(timings))
            outcomes.append(measure(case))
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
        print_json({"cases": table})
    else:
        print_table("", ("case", "ours", "peers", "ratio", "detail"), rows, right=("ours", "ratio"))
    return 1 if any(outcome.failed for outcome in outcomes) else 0
