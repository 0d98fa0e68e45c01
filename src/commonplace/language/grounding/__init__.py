"""What a language model found, checked against the words that it was given. Pure."""
