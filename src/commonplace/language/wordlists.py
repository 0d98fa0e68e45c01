"""Lists of words kept as data: `[section]` opens a list, words follow in any layout, # comments."""

import unicodedata
from functools import cache
from importlib import resources


@cache
def word_lists(file: str) -> dict[str, frozenset[str]]:
    """The lists of a data file by their section's name, case folded."""
    text = resources.files(__package__).joinpath(file).read_text(encoding="utf-8")
    sections: dict[str, list[str]] = {}
    current: list[str] = []
    for line in unicodedata.normalize("NFC", text).casefold().splitlines():
        if line.startswith("["):
            current = sections.setdefault(line.strip("[] "), [])
        elif not line.startswith("#"):
            current.extend(line.split())
    return {name: frozenset(words) for name, words in sections.items()}
