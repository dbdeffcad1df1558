"""Strength: isometric joint torques of the corrected body beside what men can do, movement by movement.

Limbs: the sum of all agonists at full activation about the joint's axis. Trunk and neck: the greatest load that all
joints of the column hold together (`control.strength`). A movement passes within a factor of the human band's ends:
1.15 for limbs, 1.25 for the trunk. The neck stays weak by construction (few muscles flex C1 to C3, no ligament forces
beyond 2 degrees): a factor of 3, so its claim says no more than that. Each claim names its factor, and each detail the
human band and whether the torque is IN BAND or OUT OF BAND.
"""

from __future__ import annotations

from functools import lru_cache

from vitruvian.anatomy import Body, human
from vitruvian.control import strength_tests
from vitruvian.control.strength import StrengthTest, strength
from vitruvian.verify.book import Claim, Finding, claim

NEAR = {"neck": 3.0, "trunk": 1.25}  # factor on the band; others 1.15


@lru_cache(maxsize=1)
def _body() -> Body:
    return human()


@lru_cache(maxsize=64)
def _measured(name: str) -> float:
    return strength(_body(), next(t for t in strength_tests() if t.name == name))


def _claim(test: StrengthTest) -> Claim:
    words = test.name.replace(",", "").lower().split()
    near = NEAR.get(words[0], 1.15)

    def measure() -> Finding:
        value = _measured(test.name)
        where = "IN BAND" if test.low <= value <= test.high else "OUT OF BAND"
        detail = f"human {test.low:g} to {test.high:g} N m ({test.source}): {where}"
        return Finding.within(value, test.low / near, test.high * near, "N m", detail)

    return Claim(
        f"strength/{'-'.join(words)}", f"{test.name}: torque within a factor of {near:g} of the human band.", measure
    )


@claim
def most_movements_are_in_the_human_band() -> Finding:
    """At least three quarters of all movements lie in the human band itself."""
    tests = strength_tests()
    out = [t for t in tests if not t.low <= _measured(t.name) <= t.high]
    names = "; ".join(f"{t.name} {_measured(t.name):.0f} of {t.low:g}-{t.high:g} N m" for t in out)
    return Finding.within(1.0 - len(out) / len(tests), 0.75, 1.0, "1", f"out of band: {names or 'none'}")


for _test in strength_tests():
    globals()["_".join(_test.name.replace(",", "").lower().split())] = _claim(_test)
del _test
