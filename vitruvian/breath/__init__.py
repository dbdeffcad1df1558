"""Breath: chest and belly as closed surfaces, lungs, airway. Bones are met in `couple.cavity_pressure`.

model     `Cavities` and `Lungs`; `state` what changes
surface   places, volumes and their gradients; `airway` the flow of air; `bursts` how fast they follow
"""

from vitruvian.breath.bursts import burst_rate
from vitruvian.breath.model import ATMOSPHERE, Carried, Cavities, Fibres, Leans, Lungs, Strips
from vitruvian.breath.state import BreathState, at_rest
from vitruvian.breath.surface import vertices

__all__ = [
    "ATMOSPHERE", "BreathState", "Carried", "Cavities", "Fibres", "Leans", "Lungs", "Strips", "at_rest",
    "burst_rate", "vertices",
]  # fmt: skip
