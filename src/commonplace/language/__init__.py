"""Text: what it says in terms, sentences, keywords and tokens, and in which language."""
