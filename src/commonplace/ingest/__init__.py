"""Originals in, readings out: what a text, a mail or a meeting says, cut into passages. Pure."""
