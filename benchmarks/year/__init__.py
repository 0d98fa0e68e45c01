"""One person's year of conversations, made up, with a night after each day."""
