"""Memory candidates in one conversation turn, by rules in English and Hebrew."""
