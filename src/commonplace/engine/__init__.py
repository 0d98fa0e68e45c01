"""The engine: what the verbs do, one folder per subject."""
