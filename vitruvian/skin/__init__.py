"""Skin: a closed surface bound to bones, and what is drawn beneath it.

`bound`   dual-quaternion skinning with its exact derivative
`under`   points that stay under a drawn skin
"""

from vitruvian.skin.bound import MOST, BoundSkin, SkinPlace, bind, few
from vitruvian.skin.under import Under

__all__ = ["MOST", "BoundSkin", "SkinPlace", "Under", "bind", "few"]
