"""Removal: forget, restore and erase items, and cascade to what depends on them."""
