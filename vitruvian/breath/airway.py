"""Air through the mouth: gas, volume and flow solved together.

    p V = n,   n' = p_a Q,   g² (p_a - p) = k Q |Q|        (DiLorenzo 2009, 6.2 to 6.4; g: how far the glottis is open)

The flow at the end of a step is the unknown: with p = (n + h p_a Q)/V the equation is smooth in Q, holds for a shut
glottis, and has one root. Solved for the volume instead, or in two passes, it rings from step to step, since the
square root has an infinite slope where the flow turns.
"""

from __future__ import annotations

import numba as nb

from vitruvian.breath.model import ATMOSPHERE

P = ATMOSPHERE


@nb.njit(cache=True)
def flow(gas: float, volume: float, h: float, k: float, glottis: float, first: float) -> float:
    """Flow into the lungs [m³/s] at the end of a step of h [s].

    gas: p V before [Pa m³]; volume: at the end [m³]; k: of the airway [Pa s²/m⁶]; first: a guess. The left side rises
    with Q, the right one falls: Newton's steps are kept within the bracket that this gives."""
    if glottis <= 0.0:
        return 0.0
    g2 = glottis * glottis
    drive = P - gas / volume  # at Q = 0
    c = h * P / volume
    high = (g2 * abs(drive) / k) ** 0.5  # |Q| without compression
    low, high = (0.0, high) if drive > 0.0 else (-high, 0.0)
    q = min(max(first, low), high)
    for _ in range(60):
        f = k * q * abs(q) - g2 * (drive - c * q)
        if f > 0.0:
            high = q
        else:
            low = q
        new = q - f / (2.0 * k * abs(q) + g2 * c)
        if not low <= new <= high:
            new = 0.5 * (low + high)
        if abs(new - q) <= 1e-15 + 1e-13 * abs(new):
            return new
        q = new
    return q


@nb.njit(cache=True)
def stiffness(gas: float, volume: float, h: float, k: float, glottis: float, q: float) -> float:
    """-dp/dV of the gas within a step [Pa/m³], air flowing at q [m³/s]: less the freer it flows."""
    c, g2 = h * P / volume, glottis * glottis
    closed = (gas + h * P * q) / (volume * volume)
    return closed * 2.0 * k * abs(q) / (2.0 * k * abs(q) + g2 * c) if g2 > 0.0 else closed
