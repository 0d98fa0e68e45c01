"""Profile: the owner's fields, notes and abbreviations, and proposals for them."""
