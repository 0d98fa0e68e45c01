"""Names, and words that only describe somebody: "my manager", "Maya's brother". Pure."""

from __future__ import annotations

import re

_DESCRIBED = re.compile(
    r"^(?:my|our|your|his|her|their|the|a|an)\s|['’]s\s|\s(?:of|from|at)\s|\sשל(?:י|נו|ו|ה|ך)?(?:\s|$)",
    re.IGNORECASE,
)
_POSSESSIVE = re.compile(r"['’]s\s|s['’]\s|\sשל\s", re.IGNORECASE)


def alike(name: str) -> str:
    """What spellings share that differ in capitals and spaces alone."""
    return " ".join(name.casefold().split())


def names_another(name: str) -> bool:
    """Whose husband, whose sister: the name in it is somebody else's."""
    return _POSSESSIVE.search(name) is not None


def describes(name: str) -> bool:
    """It is taken as a whole: no part of it is a name of whom it describes."""
    return _DESCRIBED.search(name) is not None
