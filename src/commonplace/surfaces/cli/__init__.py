"""The command line, generated from the table of operations."""
