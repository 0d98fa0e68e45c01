"""Transfer: import of an exported memory."""
