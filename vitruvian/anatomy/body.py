"""A body: a skeleton, the muscles on it, and the names by which a person knows its parts."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from vitruvian.couple import BodyState, resting_fibres
from vitruvian.errors import InputError, unknown_name
from vitruvian.muscle import Element, LinearHill, MuscleBuilder, MuscleModel
from vitruvian.muscle.model import Path, checked_path
from vitruvian.skeleton import Skeleton, bone_poses

Array = np.ndarray
PARTS = ("torso", "neck", "left arm", "right arm", "left leg", "right leg")  # Lee 5.3.4, his groups by side
STATURE = 1.92  # [m] of the tabulated body: skull joint at 1.795 m, and the vertex above it
VERTEX = 0.125  # [m]
REGIONS = ("trunk", "head_neck", "arm", "arm", "leg", "leg")  # the tables' word for each part

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
    sizes: Mapping[str, Array] = field(default_factory=dict)  # bone -> (3, 3), where a segment has a factor of its own
    proportions: Mapping[str, float] = field(default_factory=dict)  # segment -> that factor
    notes: tuple[str, ...] = field(default=())  # corrections applied, one line each

    def size(self, bone: str) -> Array:
        """How the tables' places on a bone are stretched in this body, symmetric, (3, 3)."""
        own = self.sizes.get(bone)
        return self.scale * np.eye(3) if own is None else own

    def breadth(self, bone: str) -> float:
        """Across a bone, against the tables."""
        own = self.sizes.get(bone)
        return self.scale if own is None else float(np.linalg.eigvalsh(own)[1])

    @cached_property
    def stature(self) -> float:
        """From soles to vertex, upright [m]."""
        if "Sku" not in self.mirror or not self.proportions:
            return STATURE * self.scale
        skull = bone_poses(self.skeleton, self.default_q)[self.skeleton.index("Sku"), 2, 3]
        return float(skull + VERTEX * self.scale)

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
        q = (self.default_q if q is None else q).copy()
        return BodyState(
            q=q,
            v=np.zeros(s.n_v),
            activation=np.zeros(self.muscles.n_muscles),
            fibre=resting_fibres(s, self.muscles, q),
            load=np.zeros((s.n_bones, 10)),
            wrench=np.zeros((s.n_bones, 6)),
        )

    def with_muscle(
        self,
        name: str,
        path: Path,
        *,
        pcsa: float | None = None,
        element: Element | None = None,
        world: bool = False,
        group: str = "",
        region: str = "",
        weight: float = 1.0,
    ) -> Body:
        """This body with one more muscle, the last.

        path: [(bone, position [m]), ...] from origin to insertion, in the bones' frames, or with `world` where the
        points are in the default pose. pcsa: cross-section [m²]; it makes a `LinearHill` at rest in the default pose.
        element: another force law instead; its cross-section follows from F_max if it is not given too.
        group: anatomical name, by default the muscle's own. region: trunk, head_neck, arm or leg, by default that of
        the bones. weight: of its effort when activations are solved for.
        """
        bones, points = checked_path(f"muscle '{name}'", path, self.skeleton.names)
        if world:
            poses = bone_poses(self.skeleton, self.default_q)[bones]
            local = np.einsum("nji,nj->ni", poses[:, :3, :3], points - poses[:, :3, 3])
            path = [(self.skeleton.names[b], p) for b, p in zip(bones, local)]
        if element is None:
            if pcsa is None:
                raise InputError(f"muscle '{name}' needs a cross-section (pcsa) or a force law (element)")
            try:
                element = LinearHill.from_pcsa(pcsa, self.path_length(path))
            except InputError as error:
                raise InputError(f"muscle '{name}': {error}") from None
        region = region or REGIONS[self.bone_part[bones].max()]
        if region not in REGIONS:
            raise InputError(f"muscle '{name}': {unknown_name('region', region, set(REGIONS))}")
        builder = MuscleBuilder(self.skeleton, self.muscles)
        builder.add_muscle(name, path, element, group=group, region=region, weight=weight, pcsa=pcsa)
        return replace(self, muscles=builder.build(), notes=(*self.notes, f"muscle {name} added"))

    def without_muscles(self, *words: str) -> Body:
        """This body without the muscles whose names start with one of the words."""
        for word in words:
            if not len(self.muscles.named(word)):
                stems = {re.sub(r"(_\d+)?(_[lr])?$", "", name) for name in self.muscles.names}
                raise unknown_name("muscle", word, stems | set(self.muscles.names))
        if not words:
            return self
        gone = self.muscles.named(*words)
        builder = MuscleBuilder(self.skeleton, self.muscles, np.delete(np.arange(self.muscles.n_muscles), gone))
        return replace(self, muscles=builder.build(), notes=(*self.notes, f"without {', '.join(words)}"))

    def path_length(self, path: Path) -> float:
        """Length [m] in the default pose of a path in the bones' frames."""
        bones, local = checked_path("path", path, self.skeleton.names)
        poses = bone_poses(self.skeleton, self.default_q)[bones]
        points = np.einsum("nij,nj->ni", poses[:, :3, :3], local) + poses[:, :3, 3]
        return float(np.linalg.norm(np.diff(points, axis=0), axis=1).sum())

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
