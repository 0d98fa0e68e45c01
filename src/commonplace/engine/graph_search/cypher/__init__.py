"""openCypher for reading: a parser, static checks and an interpreter over an in-memory snapshot."""
