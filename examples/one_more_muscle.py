"""One more muscle on the human: a second iliacus of the left side makes the bending of the hip stronger."""

import vitruvian as vt
from vitruvian.control import strength_tests
from vitruvian.control.strength import strength

body = vt.human()
path = [("Pel", (0.10, -0.03, 1.12)), ("Pel", (0.075, -0.085, 1.02)), ("Fe_l", (0.12, -0.01, 0.93))]
larger = body.with_muscle("iliacus_02_l", path, pcsa=10e-4, world=True)
hip = next(test for test in strength_tests() if test.movement == "hip flexion")
print(f"{larger.muscles.n_muscles} muscles, hip flexion {strength(body, hip):.0f} -> {strength(larger, hip):.0f} N m")
