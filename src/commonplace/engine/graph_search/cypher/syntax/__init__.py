"""Syntax: a query's text becomes tokens, then a tree, which is checked before execution."""
