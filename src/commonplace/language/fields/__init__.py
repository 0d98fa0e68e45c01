"""Fields in a text: phones, contacts, key-values, names, kind, category, writing policy."""
