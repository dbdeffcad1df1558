"""Surfaces, level sets, sampling."""
