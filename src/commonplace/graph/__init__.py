"""The personal graph's own room: who is meant, what is told, and the steps that follow from it."""
