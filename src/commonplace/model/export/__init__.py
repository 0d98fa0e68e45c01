"""Export format: a user's memory as lines of JSON."""
