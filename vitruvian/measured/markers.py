"""Where named markers sit on our bones, by the marker sets that laboratories use (Plug-in Gait, OpenSim's gait models).

`data/markers.csv` gives every marker of the left side and the midline: its bone, its place in the bone's frame at the
tables' size [m] (about 11 mm outside of the bone, for skin and half a marker), and other names. "bony" markers are
landmarks that a finger finds and are trusted as placed; "loose" ones (wands, clusters) sit anywhere on their segment,
so their place is found from the trial itself (`kinematics.placed`).
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import lru_cache
from importlib.resources import files

import numpy as np

from vitruvian.anatomy import Body
from vitruvian.errors import InputError

Array = np.ndarray
PELVIS = ("LASI", "RASI", "LPSI", "RPSI", "SACR", "LHJC", "RHJC")
LEAST_ON_PELVIS = 3


@dataclass(frozen=True)
class MarkerSite:
    """A marker on a bone of our body."""

    name: str
    bone: str
    local: tuple[float, float, float]  # [m] in the bone's frame, at the tables' size
    loose: bool
    what: str
    aliases: tuple[str, ...] = ()


@lru_cache(maxsize=1)
def marker_sites() -> dict[str, MarkerSite]:
    """All sites by name, both sides."""
    sites: dict[str, MarkerSite] = {}
    with (files("vitruvian.measured") / "data" / "markers.csv").open(encoding="utf-8") as file:
        for row in csv.DictReader(file):
            local = (float(row["x"]), float(row["y"]), float(row["z"]))
            site = MarkerSite(
                row["marker"], row["bone"], local, row["kind"] == "loose", row["what"], tuple(row["aliases"].split())
            )
            sites[site.name] = site
            twin = _other_side(site)
            if twin is not None and twin.name not in sites:
                sites[twin.name] = twin
    return sites


def recognised(names: Iterable[str]) -> tuple[dict[str, str], list[str]]:
    """(name in the file -> site, names that no site has). Case, blanks, dots and a subject's prefix do not count."""
    known = {_plain(word): site.name for site in marker_sites().values() for word in (site.name, *site.aliases)}
    found: dict[str, str] = {}
    unknown: list[str] = []
    for name in names:
        site = known.get(_plain(name.rsplit(":", 1)[-1]))
        if site is None or site in found.values():
            unknown.append(name)
        else:
            found[name] = site
    return found, unknown


def needed(trial: str, sites: Iterable[str]) -> None:
    """An error unless the pelvis carries three markers that are not in a line."""
    mine = set(sites)
    there = [name for name in PELVIS if name in mine]
    if len(there) < LEAST_ON_PELVIS:
        has = ", ".join(there) or "none"
        raise InputError(
            f"{trial}: the pelvis needs three of {', '.join(PELVIS)}; this file has {has}. Other names can be mapped "
            "with --marker NAME=SITE"
        )


def site_places(body: Body, sites: Iterable[str]) -> tuple[Array, Array]:
    """(bone numbers (m,), places in the bones' frames [m] (m, 3)) of sites on a body of its size."""
    table = marker_sites()
    chosen = [table[name] for name in sites]
    bones = np.array([body.skeleton.index(site.bone) for site in chosen], dtype=np.int64)
    return bones, np.array([body.size(site.bone) @ site.local for site in chosen]).reshape(-1, 3)


def _other_side(site: MarkerSite) -> MarkerSite | None:
    if not site.name.startswith("L"):
        return None
    bone = site.bone[:-1] + "r" if site.bone.endswith("_l") else site.bone
    x, y, z = site.local
    aliases = tuple(re.sub("^L", "R", word) for word in site.aliases)
    return replace(site, name="R" + site.name[1:], bone=bone, local=(-x, y, z), aliases=aliases)


def _plain(word: str) -> str:
    return re.sub(r"[\s._-]", "", word).upper()
