"""Judgement on labelled sets: truth, understanding, observe, extraction."""
