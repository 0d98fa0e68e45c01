"""Compare two statements by words, values and predicate frames; no model."""
