"""Texts of storylines and macros by rules."""
