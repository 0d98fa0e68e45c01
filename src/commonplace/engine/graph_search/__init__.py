"""Graph search: explore, traverse (PageRank, Cypher), list and export what a caller may see."""
