"""Pages of the site that are made when it is built: the API reference and the verification book.

mkdocs calls `on_files` (mkdocs.yml, hooks). The reference is what each package exports, with signature and docstring.
The book is every claim, chapter by chapter, with what was measured if `docs/book.json` holds it
(docs/make_book.py puts it there), as a table and a plot of each error over its tolerance.
"""

from __future__ import annotations

import html
import inspect
import json
import math
import re
from importlib import import_module
from pathlib import Path
from types import GenericAlias
from typing import Any

HERE = Path(__file__).parent
PACKAGES = {
    "world": "time, state, recordings, scenes",
    "spatial": "rigid motions",
    "mesh": "surfaces, level sets, sampling",
    "skeleton": "bones, joints, kinematics, dynamics",
    "muscle": "line muscles and their force laws",
    "flesh": "finite elements",
    "water": "incompressible flow with a free surface",
    "skin": "a surface bound to bones",
    "breath": "cavities, lungs and airway",
    "couple": "the one step of bones and everything that acts within it",
    "anatomy": "tables and meshes to bodies",
    "control": "everything that decides activations",
    "measured": "measured motion: poses, moments, muscle forces",
    "systems": "whole things that live",
    "exchange": "other people's formats",
    "view": "browser viewer, pictures, films",
    "swarm": "one function over many items",
}
BAR, ROW = 420, 18  # [pixel] of the plot: length for an error as large as its tolerance, height of a line
WIDE = 88  # letters of a signature on one line
DECADES = 6.0  # below the tolerance that a bar tells apart


def on_files(files: Any, config: Any) -> Any:
    """Add the made pages to those of the site."""
    from mkdocs.structure.files import File

    for name, text in pages().items():
        files.append(File.generated(config, name, content=text))
    return files


def pages() -> dict[str, str]:
    """Text of each made page, by its path."""
    made = {"api/index.md": front_page(), "book.md": book_page()}
    return made | {f"api/{name}.md": package_page(name, what) for name, what in PACKAGES.items()}


def front_page() -> str:
    """The names of `vt`, and where the rest is."""
    import vitruvian as vt

    lines = ["# API reference", "", "Made from the docstrings. `import vitruvian as vt` has these names:", ""]
    lines += [line for name in vt.NAMES for line in entry(f"vt.{name}", getattr(vt, name))]
    lines += ["## Packages", "", "| package | |", "| --- | --- |"]
    lines += [f"| [vitruvian.{name}]({name}.md) | {what} |" for name, what in PACKAGES.items()]
    return "\n".join(lines) + "\n"


def package_page(name: str, what: str) -> str:
    """What a package exports."""
    package = import_module(f"vitruvian.{name}")
    lines = [f"# vitruvian.{name}", "", _block(package.__doc__ or what), ""]
    for item in getattr(package, "__all__", []):
        lines += entry(item, getattr(package, item))
    return "\n".join(lines) + "\n"


def entry(name: str, thing: Any) -> list[str]:
    """Heading, signature and docstring of a name; of a class also its own public methods."""
    lines = [f"### {name}", ""]
    if inspect.ismodule(thing):
        return [*lines, _block(thing.__doc__ or ""), ""]
    if not callable(thing) or isinstance(thing, GenericAlias):  # a constant, or a type by another name
        return [*lines, f"`{_short(repr(thing))}`", ""]
    if callable(thing) and (signature := _signature(name.rsplit(".", 1)[-1], thing)):
        lines += ["```python", signature, "```", ""]
    own = inspect.getdoc(thing) if callable(thing) else ""
    if own and not (inspect.isclass(thing) and own.startswith(f"{thing.__name__}(")):
        lines += [_block(own), ""]
    if inspect.isclass(thing):
        for method, made in vars(thing).items():
            plain = made.__func__ if isinstance(made, classmethod | staticmethod) else made
            if method.startswith("_") or not inspect.isfunction(plain) or not plain.__doc__:
                continue
            lines += ["```python", _signature(method, plain), "```", "", _block(inspect.getdoc(plain) or "", ": "), ""]
    return lines


def _signature(name: str, thing: Any) -> str:
    try:
        told = inspect.signature(thing)
    except (TypeError, ValueError):
        return ""
    kept = [p.replace(annotation=_Bare.of(p.annotation)) for p in told.parameters.values() if p.name != "self"]
    told = told.replace(parameters=kept, return_annotation=_Bare.of(told.return_annotation))
    whole = _short(f"{name}{told}")
    if len(whole) <= WIDE or not kept:
        return whole
    ends = str(told.replace(parameters=[])).removeprefix("()")
    named = next((k for k, p in enumerate(kept) if p.kind is p.KEYWORD_ONLY), None)
    lines = [f"    {p},\n" for p in kept]
    if named is not None and not any(p.kind is p.VAR_POSITIONAL for p in kept):
        lines.insert(named, "    *,\n")
    return _short(f"{name}(\n{''.join(lines)}){ends}")


def _short(signature: str) -> str:
    return signature.replace("vitruvian.", "").replace("numpy.ndarray", "Array").replace("np.ndarray", "Array")


class _Bare(str):
    """An annotation that was written as words, told without quotation marks."""

    def __repr__(self) -> str:
        return str(self)

    @classmethod
    def of(cls, annotation: Any) -> Any:
        return cls(annotation) if isinstance(annotation, str) else annotation


def _block(text: str, before: str = "") -> str:
    """A docstring as Markdown: paragraphs as prose, names in code, lines that are set in or listed as they stand."""
    parts = inspect.cleandoc(text).split("\n\n")
    told = "\n\n".join(_as_it_stands(part) if _is_set(part) else _prose(part) for part in parts if part.strip())
    return told or before.strip()


def _is_set(part: str) -> bool:
    """Whether a paragraph is an equation, a table or a listing, whose lines must stay apart."""
    lines = part.splitlines()
    columns = len(lines) > 1 and any(re.search(r"\S {2,}\S", line) for line in lines)
    return columns or any(line.startswith((" ", "- ", "|", ">>>")) for line in lines)


def _as_it_stands(part: str) -> str:
    return f'<pre class="docstring" style="white-space: pre-wrap">{html.escape(part)}</pre>'


def _prose(part: str) -> str:
    """Words with Markdown's signs taken literally, except for code between backticks."""
    lines = part.splitlines()
    if sum(line.startswith("`") for line in lines) > 2:  # a listing of modules, one a line
        part = "\n".join(f"\n- {line}" if line.startswith("`") else line for line in lines).strip()
    pieces = part.replace("``", "`").split("`")
    if len(pieces) % 2 == 0:
        return _as_it_stands(part)
    for k in range(0, len(pieces), 2):
        pieces[k] = re.sub(r"([\\*_\[\]#|])", r"\\\1", html.escape(pieces[k], quote=False))
    return "`".join(pieces)


def book_page() -> str:
    """Every claim of the verification book, with what was measured where that is known."""
    from vitruvian.verify.book import find_claims

    file = HERE / "book.json"
    measured = json.loads(file.read_text(encoding="utf-8"))["cases"] if file.is_file() else {}
    claims = find_claims([])
    lines = ["# The verification book", ""]
    lines += [f"{len(claims)} claims, each measured by `vitruvian verify` (one chapter: `vitruvian verify water`)."]
    chapters = list(dict.fromkeys(claim.name.partition("/")[0] for claim in claims))
    if measured:
        lines += ["", "| chapter | claims | measured | hold | on |", "| --- | --- | --- | --- | --- |"]
        lines += [_summary(chapter, [c.name for c in claims], measured) for chapter in chapters]
        lines += [
            "",
            "A bar is an error over its tolerance, by decades; a full bar is an error as large as the tolerance.",
        ]
    for chapter in chapters:
        its = [claim for claim in claims if claim.name.startswith(f"{chapter}/")]
        figures = any(claim.name in measured for claim in its)
        head = (
            ["| claim | measured | should be | |", "| --- | --- | --- | --- |"] if figures else ["| claim |", "| --- |"]
        )
        lines += ["", f"## {chapter}", "", *head]
        for claim in its:
            found = measured.get(claim.name, {})
            row = f"| **{claim.name.partition('/')[2]}** {_cell(claim.text)} |"
            lines.append(row + f" {_value(found)} | {_reference(found)} | {_verdict(found)} |" * figures)
        told = {c.name: measured[c.name] for c in its if measured.get(c.name, {}).get("value") is not None}
        if told:
            lines += ["", plot(told)]
    return "\n".join(lines) + "\n"


def _summary(chapter: str, names: list[str], measured: dict[str, dict[str, Any]]) -> str:
    """A line on a chapter: its claims, how many were measured, how many hold, when."""
    its = [name for name in names if name.startswith(f"{chapter}/")]
    found = [measured[name] for name in its if name in measured and measured[name]["passed"] is not None]
    days = sorted({case["on"] for case in found})
    hold, when = sum(case["passed"] for case in found), " to ".join(dict.fromkeys([*days[:1], *days[-1:]]))
    return f"| [{chapter}](#{chapter}) | {len(its)} | {len(found) or 'not yet'} | {hold if found else ''} | {when} |"


def plot(found: dict[str, dict[str, Any]]) -> str:
    """Errors over their tolerances as bars, SVG."""
    rows = []
    for k, (name, case) in enumerate(found.items()):
        tolerance = case["tolerance"] or 1e-300
        part = abs(case["value"] - case["reference"]) / tolerance
        place = 0.0 if part <= 0.0 else min(max(1.0 + math.log10(part) / DECADES, 0.0), 1.25)
        colour = "#5a8f5a" if case["passed"] else "#b8432f"
        y, label = ROW * k, html.escape(name.partition("/")[2])
        rows.append(f'<text x="395" y="{y + 13}" text-anchor="end" font-size="11">{label}</text>')
        rows.append(f'<rect x="400" y="{y + 4}" width="{max(BAR * place, 1.0):.0f}" height="10" fill="{colour}"/>')
    height = ROW * len(found)
    line = f'<line x1="{400 + BAR}" x2="{400 + BAR}" y1="0" y2="{height}" stroke="#888"/>'
    head = f'<svg viewBox="0 0 940 {height}" xmlns="http://www.w3.org/2000/svg" fill="currentColor">'
    return head + line + "".join(rows) + "</svg>"


def _cell(text: str) -> str:
    return html.escape(text).replace("|", "\\|")


def _value(found: dict[str, Any]) -> str:
    return "" if found.get("value") is None else f"{found['value']:.4g} {_cell(found['unit'])}"


def _reference(found: dict[str, Any]) -> str:
    return "" if found.get("value") is None else f"{found['reference']:.4g} ± {found['tolerance']:.2g}"


def _verdict(found: dict[str, Any]) -> str:
    return "" if not found else {True: "holds", False: "**fails**", None: "skipped"}[found["passed"]]
