"""Temporal values: types, construction and arithmetic."""
