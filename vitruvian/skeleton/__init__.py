"""Bones, joints, kinematics, dynamics."""
