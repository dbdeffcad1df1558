"""Cavities, lung pressure, airflow, voice."""
