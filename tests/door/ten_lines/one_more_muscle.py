from vitruvian.anatomy import human
from vitruvian.control.strength import strength, strength_tests

body = human()
path = [("Pel", (0.10, -0.03, 1.12)), ("Pel", (0.075, -0.085, 1.02)), ("Fe_l", (0.12, -0.01, 0.93))]
larger = body.with_muscle("iliacus_l", path, pcsa=10e-4, world=True)
hip = next(test for test in strength_tests() if test.movement == "hip flexion")
before, after = strength(body, hip), strength(larger, hip)
print(f"{larger.muscles.n_muscles} muscles; hip flexion {before:.0f} -> {after:.0f} N m")
assert after > before
