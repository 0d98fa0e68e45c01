"""Storylines and macros: as hits of explore, in lists, and one in full."""
