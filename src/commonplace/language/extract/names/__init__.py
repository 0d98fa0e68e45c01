"""Names in a text: words, gazetteers, mentions in English and Hebrew, evidence of kind."""
