"""Sources: documents and conversations, kept whole."""
