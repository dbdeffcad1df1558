"""Finding how a soft character moves.

`reference`  a motion to follow
`following`  servos along a motion
"""

from vitruvian.control.search.following import Following, Holding
from vitruvian.control.search.reference import Reference

__all__ = ["Following", "Holding", "Reference"]
