"""Reading the graph: what of it a caller may see, and how it is shown."""
