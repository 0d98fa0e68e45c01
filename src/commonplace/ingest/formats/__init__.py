"""One file per format: `read(raw, hints)` makes a Reading of an original."""
