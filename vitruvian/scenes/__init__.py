"""Experiments: one file per scene."""
