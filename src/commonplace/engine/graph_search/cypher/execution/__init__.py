"""A checked query is planned, compiled into closures and run over a graph within a budget."""
