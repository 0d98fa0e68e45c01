"""What is kept of language models, on SQL."""
