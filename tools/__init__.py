"""Generators of the reference pages, the tours and the pictures; run from a checkout."""
