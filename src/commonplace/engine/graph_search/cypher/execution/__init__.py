"""Execution: plan a checked query, compile it into closures and run it within a budget."""
