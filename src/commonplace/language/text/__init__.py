"""Text analysis: normal form, lexicon, language, terms, sentences, numbers, dates."""
