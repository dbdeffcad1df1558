"""Finite-element tissue."""
