"""People of a source: participants, the owner, and entity resolution."""
