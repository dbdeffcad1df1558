"""What drives a swimmer in the scenes, by the words of their parameters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from vitruvian.anatomy import Body
from vitruvian.control.rhythm import Stroke, StrokeMotion, arms_together, load_stroke
from vitruvian.control.swim import (
    Command,
    CourseActuation,
    InverseDynamicsActuation,
    MuscleActuation,
    PdActuation,
    Pilot,
    Reflexes,
)
from vitruvian.control.swim.muscles import CONTROLS, FEEDBACK
from vitruvian.errors import InputError
from vitruvian.world import Parameter

ACTUATIONS = ("muscles", "inverse-dynamics", "pd", "course")
PARAMETERS = {
    "actuation": Parameter(
        "muscles", "how joints are driven; course: given angles, no force limit", choices=ACTUATIONS
    ),
    "control": Parameter("cpg", "where wanted muscle lengths come from", choices=CONTROLS),
    "feedback": Parameter("balanced", "how lengths become activations", choices=FEEDBACK),
    "pilot": Parameter(True, "reflexes that keep heading and depth"),
}

# arms that move together roll him little; answers come a stroke late and must be gentle, or he sways more and more
TOGETHER = Reflexes(heading=0.4, turning=0.2, bank=0.4, bend=0.0)


def drive(
    body: Body,
    stroke: str,
    parameters: Mapping[str, Any],
    *,
    plan: Sequence[tuple[float, Command]] = (),
    strokes: Sequence[str | Stroke] = (),
    pilot: Pilot | None = None,
) -> Any:
    """The controller that the parameters ask for. pilot: one with a wish of its own; else one that keeps straight."""
    kind, rate = parameters["actuation"], parameters["rate"]
    if kind == "course":
        if plan:
            raise InputError("actuation=course follows its stroke and takes no commands")
        return CourseActuation(StrokeMotion(body, load_stroke(stroke), rate))
    if pilot is None and parameters["pilot"]:
        # a crawl that he changes to is held firmly
        together = not strokes and arms_together(body, load_stroke(stroke))
        pilot = Pilot(body, stroke, reflexes=TOGETHER if together else Reflexes())
    if kind == "muscles":
        return MuscleActuation(
            body, stroke, rate, control=parameters["control"], feedback=parameters["feedback"], strokes=strokes,
            pilot=pilot, plan=plan,
        )  # fmt: skip
    maker = InverseDynamicsActuation if kind == "inverse-dynamics" else PdActuation
    return maker(body, stroke, rate, pilot=pilot, plan=plan)
