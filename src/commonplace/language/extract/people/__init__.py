"""People of a source: participants, the owner, and which names are of one person."""
