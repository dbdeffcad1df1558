"""Tables and meshes -> bodies."""
