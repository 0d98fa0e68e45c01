"""Domain values and rules. Pure: no I/O, no clock."""
