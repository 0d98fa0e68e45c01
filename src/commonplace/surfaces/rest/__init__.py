"""The memory over HTTP, made from the table of operations; and a client with the same verbs."""
