"""Temporal values: their types, how they are made, and what is computed with them."""
