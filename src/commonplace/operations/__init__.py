"""The table of operations, from which every surface is made."""
