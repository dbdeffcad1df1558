"""Fixed joint: the child is part of its parent. G = I, no degree of freedom."""

from __future__ import annotations

from dataclasses import dataclass

from vitruvian.skeleton.joints.base import FIXED, Joint


@dataclass(frozen=True)
class Fixed(Joint):
    """No motion at all."""

    code = FIXED
