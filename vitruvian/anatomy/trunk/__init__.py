"""The trunk of our human, completed: muscles between the ribs, diaphragm, belly, lungs.

cage           lines along ribs and cartilages; `intercostals` the elements between them
shape          surfaces of chest and belly; `build` puts body and cavities together
"""

from vitruvian.anatomy.trunk.build import Trunk, breathing_human, element_numbers, with_ball
from vitruvian.anatomy.trunk.intercostals import crossing, strands

__all__ = ["Trunk", "breathing_human", "crossing", "element_numbers", "strands", "with_ball"]
