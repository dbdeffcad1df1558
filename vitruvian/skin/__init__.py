"""Skin: a closed surface bound to bones, and what is drawn beneath it.

`bound`   skinning about centres of rotation, with its exact derivative
`centres` where those centres lie
`under`   points that stay under a drawn skin
"""

from vitruvian.skin.bound import MOST, BoundSkin, SkinPlace, bind, few
from vitruvian.skin.centres import turning_centres
from vitruvian.skin.under import Under

__all__ = ["MOST", "BoundSkin", "SkinPlace", "Under", "bind", "few", "turning_centres"]
