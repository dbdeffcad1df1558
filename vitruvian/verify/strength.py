"""Strength: isometric joint torques of the corrected body beside what men can do, movement by movement.

Limbs: the sum of all agonists at full activation about the joint's axis. Trunk and neck: the greatest load that all
joints of the column hold together (`control.strength`). A movement passes when it lies in or near the human band:
within 15 % for limbs, 25 % for the trunk. The neck stays weak by construction (few muscles flex C1 to C3, no ligament
forces beyond 2 degrees): within a factor of 3. The detail names every movement that is out of the band itself.
"""

from __future__ import annotations

from functools import lru_cache

from vitruvian.anatomy import Body, human
from vitruvian.control.strength import StrengthTest, strength, strength_tests
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

    def measure() -> Finding:
        value = _measured(test.name)
        near = NEAR.get(words[0], 1.15)
        inside = test.low <= value <= test.high
        detail = f"human {test.low:g} to {test.high:g} N m ({test.source}): {'in band' if inside else 'OUT OF BAND'}"
        return Finding.within(value, test.low / near, test.high * near, "N m", detail)

    return Claim(f"strength/{'-'.join(words)}", f"{test.name}: torque in or near the human band.", measure)


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
