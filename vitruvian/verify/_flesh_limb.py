"""A limb to try bone and flesh on: two bones on a hinge in a sleeve of tissue."""

from __future__ import annotations

import numpy as np

from vitruvian.couple import BoneFlesh
from vitruvian.flesh import Settings, attach, build_flesh, lattice_from_level_set, preset, sample_surface
from vitruvian.mesh import capsule
from vitruvian.skeleton import Inertia, SkeletonBuilder, bone_poses, joints
from vitruvian.skeleton.joints import Joint


def limb(
    root: Joint | None = None, settings: Settings | None = None, *, spacing: float = 0.02, material: str = "lee"
) -> tuple[BoneFlesh, np.ndarray]:
    """Two bones along x, 0.2 m each and hinged about z, in a sleeve of flesh of 40 mm radius; and their rest pose."""
    builder = SkeletonBuilder(gravity=(0.0, 0.0, 0.0))
    inertia = Inertia.cylinder(0.4, 0.012, 0.2, com=(0.1, 0.0, 0.0))
    builder.add_bone("upper", joint=root or joints.Fixed(), inertia=inertia)
    builder.add_bone("lower", parent="upper", joint=joints.Revolute((0, 0, 1)), placement=(0.2, 0, 0), inertia=inertia)
    skeleton = builder.build()
    q = skeleton.neutral_q()
    poses = bone_poses(skeleton, q)

    def sleeve(p: np.ndarray) -> np.ndarray:
        along = np.clip(p[:, 0], 0.0, 0.4)
        return np.linalg.norm(p - np.stack([along, 0 * along, 0 * along], axis=1), axis=1) - 0.04

    lattice = lattice_from_level_set(sleeve, [-0.04] * 3, [0.44, 0.04, 0.04], spacing)
    bone, points, areas = [], [], []
    for i in range(2):
        at, area = sample_surface(*capsule(np.array([0.02, 0, 0]), np.array([0.18, 0, 0]), 0.012), 0.5 * spacing)
        bone.append(np.full(len(at), i))
        points.append(at + poses[i, :3, 3])
        areas.append(area)
    tied = attach(lattice, np.concatenate(bone), np.concatenate(points), np.concatenate(areas), poses)
    model = build_flesh(lattice, preset(material), attachments=tied)
    return BoneFlesh(skeleton, model, settings), q
