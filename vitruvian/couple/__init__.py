"""Bone-flesh, skin-water, and the coupled cycle."""
