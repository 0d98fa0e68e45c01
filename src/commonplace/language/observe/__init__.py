"""Observe one conversation turn: what is worth storing; rules in English and Hebrew."""
