"""Time stepping, recording, checkpoint and resume."""
