"""A body: a skeleton, the muscles on it, and the names by which a person knows its parts."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from vitruvian.couple.state import BodyState
from vitruvian.errors import unknown_name
from vitruvian.muscle import MuscleModel
from vitruvian.skeleton import Skeleton

Array = np.ndarray
PARTS = ("torso", "neck", "left arm", "right arm", "left leg", "right leg")  # Lee 5.3.4, his groups by side

# What people call the joints, for poses and motions; without a side a word means both.
JOINT_WORDS = {
    "jaw": "Man",
    "clavicle": "Cla",
    "shoulder": "Hu",
    "elbow": "Ul",
    "forearm": "Rad",
    "wrist": "Ha",
    "hip": "Fe",
    "knee": "Tfp",
    "ankle": "Fo",
}


@dataclass(frozen=True, eq=False)
class Body:
    """Bones and muscles that never change during a run."""

    name: str
    skeleton: Skeleton
    muscles: MuscleModel
    driven: Array  # joint coordinates that muscles control, bool, shape (n_v,); others are passive or the root's
    coordinate_names: tuple[str, ...]  # one per velocity, e.g. "Hu_l rotvec_x"
    bone_part: Array  # index into PARTS, shape (n_bones,)
    full_names: dict[str, str]  # bone -> "humerus, left"
    mirror: dict[str, str]  # bone -> the bone on the other side; midline bones to themselves
    parameters: str = "corrected"
    scale: float = 1.0  # of lengths, against the tables
    notes: tuple[str, ...] = field(default=())  # corrections applied, one line each

    @property
    def n_bones(self) -> int:
        return self.skeleton.n_bones

    @property
    def free_root(self) -> bool:
        """Whether the pelvis can move."""
        return self.skeleton.joints[0].n_v == 6

    @cached_property
    def default_q(self) -> Array:
        """Joint coordinates of the tables' pose (arms out, palms forward), shape (n_q,)."""
        q = self.skeleton.neutral_q()
        for i, joint in enumerate(self.skeleton.joints):
            if not (i == 0 and joint.n_v == 6):
                q[self.skeleton.q_start[i] : self.skeleton.q_start[i + 1]] = joint.zero()
        return q

    def at_rest(self, q: Array | None = None) -> BodyState:
        """Standing still in the pose q (default: the tables' pose), muscles off, hands empty."""
        s = self.skeleton
        return BodyState(
            q=(self.default_q if q is None else q).copy(),
            v=np.zeros(s.n_v),
            activation=np.zeros(self.muscles.n_muscles),
            load=np.zeros((s.n_bones, 10)),
            wrench=np.zeros((s.n_bones, 6)),
        )

    @cached_property
    def coordinate_part(self) -> Array:
        """Index into PARTS of each joint coordinate, shape (n_v,)."""
        return self.bone_part[self.skeleton.dof_bone]

    def bones_named(self, word: str) -> tuple[str, ...]:
        """Bones that a word of a pose file means: "Hu_l", "Hu" (both sides), "elbow", "left elbow"."""
        side = ""
        base = word
        for prefix, letter in (("left ", "l"), ("right ", "r")):
            if word.startswith(prefix):
                side, base = letter, word[len(prefix) :]
        base = JOINT_WORDS.get(base, base)
        candidates = (base, *(f"{base}_{s}" for s in (side or "lr")))
        found = tuple(b for b in candidates if b in self.mirror)
        if not found:
            known = [*self.mirror, *JOINT_WORDS, *(f"{s} {w}" for s in ("left", "right") for w in JOINT_WORDS)]
            raise unknown_name("joint", word, known)
        return found
