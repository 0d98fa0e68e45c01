"""Forget, restore and erase; what a removal takes along."""
