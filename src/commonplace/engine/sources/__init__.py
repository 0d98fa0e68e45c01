"""Sources: receive originals, parse them, cut them into passages, describe them."""
