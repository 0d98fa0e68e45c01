"""Language: text in, values out; pure functions without a store."""
