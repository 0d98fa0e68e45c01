"""Whether several people speak in a text that was not taken apart: then "I" may be any of them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import pairwise

from commonplace.language.extracting.vocabulary import GIVEN, HEBREW_GIVEN
from commonplace.language.names import bare

# "Ravi: …", "12/03/2026, 10:03 - Ravi: …", "> **Ravi Rao**: …"
_NAMED = re.compile(
    r"^[> \t]{0,8}(?:[\[(]?[\d./:, -]{4,24}(?:[ap]\.?m\.?)?[\])]?[ –—-]{0,4})?"
    r"\*{0,2}(?P<name>[^\W\d_][\w.'’-]{1,30})(?: [^\W\d_][\w.'’-]{0,30}){0,2}\*{0,2} ?:\*{0,2} ",
    re.MULTILINE | re.IGNORECASE,
)


def several_speak(texts: Iterable[str]) -> bool:
    """Somebody is named in front of a line again after somebody else was."""
    turns = [one for one, other in pairwise([*_names(texts), ""]) if one != other]
    return len(turns) > len(set(turns)) > 1


def _names(texts: Iterable[str]) -> Iterator[str]:
    for text in texts:
        for found in _NAMED.finditer(text):
            if (name := bare(found["name"])) in GIVEN or name in HEBREW_GIVEN:
                yield name
