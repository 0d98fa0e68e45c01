"""Facts about nodes: concepts, descriptions, notes, and candidates for memories."""
