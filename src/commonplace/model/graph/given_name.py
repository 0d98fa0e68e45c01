"""What somebody may call a node: one line that reads as it is written, and is found again. Pure."""

from __future__ import annotations

import re

from commonplace.errors import BadText, InvalidInput
from commonplace.model import check
from commonplace.model.abbreviation import PREFIX as ABBREVIATION_PREFIX
from commonplace.model.graph.artifact import PREFIX as ARTIFACT_PREFIX
from commonplace.model.graph.edge import PREFIX as EDGE_PREFIX
from commonplace.model.graph.node import PREFIX as NODE_PREFIX
from commonplace.model.graph.note import PREFIX as NOTE_PREFIX
from commonplace.model.profile import PREFIX as PROFILE_PREFIX
from commonplace.model.proposal import PREFIX as PROPOSAL_PREFIX
from commonplace.model.source import PREFIX as SOURCE_PREFIX

# As long as what a node is asked for by: a longer name would never be found.
LONGEST_NAME = check.MAX_WORD

_ID_PREFIXES = (
    ABBREVIATION_PREFIX,
    ARTIFACT_PREFIX,
    EDGE_PREFIX,
    NODE_PREFIX,
    NOTE_PREFIX,
    PROFILE_PREFIX,
    PROPOSAL_PREFIX,
    SOURCE_PREFIX,
)
_PREFIXES = "|".join(map(re.escape, _ID_PREFIXES))
_UUID = "[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
_LIKE_AN_ID = re.compile(rf"(?:{_PREFIXES}).*|{_UUID}", re.IGNORECASE)
# They turn what stands beside them, and show a name as another than it is.
_TURNS_WRITING = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def given_name(value: object, field: str) -> str:
    """Spaces count once."""
    name = " ".join(check.word(value, field, LONGEST_NAME).split())
    if _TURNS_WRITING.search(name):
        raise BadText(
            f"{field} contains a bidirectional control character.",
            remedy="It is invisible: type the name instead of copying it.",
            field=field,
        )
    if _LIKE_AN_ID.fullmatch(name):
        raise InvalidInput(f"{name!r} looks like an id; give a name.", field=field)
    return name
