"""Browser viewer, pictures, films."""
