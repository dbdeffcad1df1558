"""Timings, one chapter per file, peers measured in the same run."""
