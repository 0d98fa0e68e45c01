"""The tasks of a night, one module each."""
