"""How hard the solver tries, and how a solve went.

A balance is found when what is left of the forces is small against the forces themselves: the largest of elastic force,
springs, load, contact, drag and inertia, each as a Euclidean norm over all nodes, held ones too. So a body of a
milligram is solved as well as one of a hundred kilograms, and nobody has to name a force in newtons.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from vitruvian.errors import Diverged, InputError


@dataclass(frozen=True)
class Settings:
    """How hard to try."""

    residual: float = 5e-4  # unbalanced force over the largest of the forces that meet
    gap: float = 1e-5  # volume-weighted rms of c: an element holds its volume to a hundred thousandth
    newton: int = 40  # most Newton steps
    krylov: int = 400  # most iterations of each linear solve
    tolerance: float = 0.1  # relative, of each linear solve
    chord: float = 0.2  # keep the matrix while a step brings the unbalanced force below this fraction
    single: bool = True  # store the matrix in float32: half the memory traffic, same answer
    multigrid: bool | None = None  # precondition by multigrid, else by diagonal blocks; None: whichever is less work

    def __post_init__(self) -> None:
        for name in ("residual", "gap", "tolerance", "chord"):
            value = getattr(self, name)
            if not (isinstance(value, (int, float, np.floating)) and 0.0 < value < np.inf):
                raise InputError(f"flesh settings: {name} must be a positive number, got {value!r}")
        for name, least in (("newton", 0), ("krylov", 1)):
            value = getattr(self, name)
            if not (isinstance(value, (int, np.integer)) and value >= least):
                raise InputError(f"flesh settings: {name} must be a whole number, {least} or more, got {value!r}")
        if self.multigrid not in (None, True, False):
            raise InputError(f"flesh settings: multigrid must be True, False or None, got {self.multigrid!r}")
        if not self.residual < 1.0:
            raise InputError(f"flesh settings: residual is relative to the forces, below 1, got {self.residual!r}")


@dataclass
class SolveReport:
    """How a solve went."""

    balanced: bool  # forces balance, volumes and contact are as asked
    newton: int
    krylov: int
    assemblies: int
    residual: float  # unbalanced force [N]
    size: float  # largest of the forces that meet [N]
    gap: float
    projected: int  # assemblies with projected stiffness
    depth: float = 0.0  # by how much contact is missed [m]: skin in a shape, or pushed by one that it does not touch
    left_out: int = 0  # vertices of the skin that touch skin but are ignored (see `self_contact`)
    folded: int = 0  # elements turned inside out somewhere at the end: a balance that no real tissue has
    branched: bool = False  # negative curvature was met: there is more than one balance, and this need not be the first
    parts: int = 1  # in which the load was brought up

    @property
    def converged(self) -> bool:
        """A balance that tissue can have: forces balance and no element is inside out."""
        return self.balanced and self.folded == 0

    def add(self, earlier: SolveReport) -> None:
        """Count the work of an earlier try."""
        self.newton += earlier.newton
        self.krylov += earlier.krylov
        self.assemblies += earlier.assemblies
        self.projected += earlier.projected
        self.branched = self.branched or earlier.branched


class Unbalanced(Diverged):
    """No balance was found; the state is as it was before."""

    def __init__(self, what: str, report: SolveReport) -> None:
        left = f"{report.residual:.3g} N of {report.size:.3g} N left unbalanced"
        super().__init__("flesh", f"{what}: {left} after {report.newton} Newton steps")
        self.report = report
