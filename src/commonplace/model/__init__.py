"""What things are, and the rules that hold for them. Pure: no I/O, no clock of its own."""
