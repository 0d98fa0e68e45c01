"""One truth about a profile field: the owner's own word, and what was said before or after it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from commonplace.engine.search.supersession import state_field
from commonplace.language.compare.other_value import gives_other_value
from commonplace.language.text.normalise import fold
from commonplace.model.memory.memory import Memory
from commonplace.model.profile.fields import PROFILE_PREFIX

_RELATION_OF_FIELD = {f"{PROFILE_PREFIX}city": "lives-in"}


@dataclass(frozen=True, slots=True)
class OwnPlace:
    """Where the owner lives, by the profile, since when that is known."""

    name: str  # folded
    since: datetime


def without_outdated(memories: Sequence[Memory], profile: Sequence[Memory]) -> list[Memory]:
    """Pure. Without facts to which the owner has since given another value in the profile."""
    fields = _stated(profile)
    return [
        memory
        for memory in memories
        if not any(
            field.updated_at > memory.updated_at and gives_other_value(memory.content, said)
            for field, said in fields
        )
    ]


def disputed_fields(profile: Sequence[Memory], memories: Sequence[Memory]) -> dict[str, str | None]:
    """Pure. What was said of a field since its value was set, by field."""
    return {
        field.id: memory.content
        for field, said in _stated(profile)
        for memory in sorted(memories, key=lambda each: each.updated_at)
        if memory.updated_at > field.updated_at and gives_other_value(said, memory.content)
    }


def own_places(profile: Sequence[Memory]) -> Mapping[str, OwnPlace]:
    """Pure. The places of the profile, by type of relation."""
    return {
        _RELATION_OF_FIELD[field.id]: OwnPlace(
            fold(str(field.metadata.get("value"))), field.updated_at
        )
        for field in profile
        if field.id in _RELATION_OF_FIELD
    }


def _stated(profile: Sequence[Memory]) -> list[tuple[Memory, str]]:
    said = ((field, state_field(field.id, field.metadata)) for field in profile)
    return [(field, sentence) for field, sentence in said if sentence]
