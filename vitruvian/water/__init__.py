"""Incompressible flow with a free surface."""
