"""Sources: documents and conversations with their originals."""
