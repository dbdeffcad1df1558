"""The verification book: one chapter per file, one claim per function."""
