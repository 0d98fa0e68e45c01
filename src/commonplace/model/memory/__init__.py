"""Memories: values, kinds, conflicts and lifecycle."""
