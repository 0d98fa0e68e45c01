"""Search in the graph: Cypher queries over the caller's visible snapshot."""
