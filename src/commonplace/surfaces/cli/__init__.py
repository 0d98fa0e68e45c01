"""The command line, made from the table of operations."""
