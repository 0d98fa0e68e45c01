"""Search in the graph: sources that it reaches; its nodes, edges and artifacts as hits."""
