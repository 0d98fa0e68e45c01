"""One module for each task of a night."""
