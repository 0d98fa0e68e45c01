"""The REST server, generated from the table of operations, and a client with the same verbs."""
