"""Rigid motions: SE(3), twists, splines on SE(3)."""
