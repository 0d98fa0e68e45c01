"""Personal graph: names, assertions, edits, and the changeset steps that follow."""
