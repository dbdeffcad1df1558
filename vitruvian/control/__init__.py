"""Everything that decides activations."""
