"""Moves, merges and renames of modules, from a table: carries a branch over to the new tree."""
