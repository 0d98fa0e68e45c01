"""What the verbs do, one folder per subject."""
