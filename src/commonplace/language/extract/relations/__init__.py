"""Relations between the nodes of a source, and their validity."""
