"""What a controller feels of a body: everything it may read, with the lag that a living body has.

`lag`      felt forces and loads that follow the real ones
`course`   a swimmer's own course: heading, pitch, roll, depth, speed, freed of the sway of his stroke
"""

from vitruvian.control.senses.course import FeltCourse, Senses
from vitruvian.control.senses.lag import Felt, Sensed

__all__ = ["Felt", "FeltCourse", "Sensed", "Senses"]
