"""Memories: remember, update, merge, link, resolve. One changeset per verb."""
