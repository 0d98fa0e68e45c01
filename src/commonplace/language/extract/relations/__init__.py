"""Relations between the nodes of a source, and when they hold."""
