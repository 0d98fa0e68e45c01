"""What maintenance keeps, on SQL: storylines, macros, archived sources."""
