"""The text of a query becomes tokens, then a tree, which is checked before anything runs."""
