"""What bones, muscles, skin, water and wires look like."""

from vitruvian.world import BRICK, IVORY, SAND, Colour

BONE: Colour = IVORY
MUSCLE: Colour = BRICK
SKIN: Colour = SAND
WATER: Colour = (0.25, 0.52, 0.70)
WIRE: Colour = (0.35, 0.37, 0.42)
