"""What kind of memory a text is when nobody says: a value of a subject, a contact, or a note.

What is uncertain is a note. A kv and a contact ask a person when their value changes, so taking
prose for one costs more than missing one.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from commonplace.language.contact_fields import contact_in
from commonplace.language.kv_fields import pair_in
from commonplace.language.sentences import sentences
from commonplace.language.triggers import without_trigger
from commonplace.model.kinds import Kind

# Longer than this it is prose, and need not be looked at.
_LOOKED_AT = 400


@dataclass(frozen=True, slots=True)
class Classified:
    kind: Kind
    content: str  # the caller's words, without "remember that"
    metadata: Mapping[str, str] = field(default_factory=dict)


def classify(text: str) -> Classified:
    """The kind of a text, its content, and the fields of a contact or a kv."""
    if len(text) > _LOOKED_AT:
        return Classified(Kind.NOTE, text)
    asked = without_trigger(text)
    if len(sentences(asked.said)) == 1:
        for kind in (Kind.CONTACT, Kind.KV):
            fields = _certain_fields(kind, asked.said)
            if fields:
                return Classified(kind, asked.said, fields)
    return Classified(Kind.NOTE, asked.content)


def _certain_fields(kind: Kind, said: str, asked: bool = False) -> dict[str, str]:
    if kind is Kind.CONTACT:
        contact = contact_in(said, asked)
        return contact.fields() if contact else {}
    pair = pair_in(said, asked)
    return {"subject": pair.subject, "value": pair.value} if pair else {}


def fields_in(kind: Kind, text: str) -> dict[str, str]:
    """The fields of a text that the caller calls a contact or a kv; none when they are unclear."""
    if kind not in (Kind.CONTACT, Kind.KV) or len(text) > _LOOKED_AT:
        return {}
    said = without_trigger(text).said
    return _certain_fields(kind, said, asked=True) if len(sentences(said)) == 1 else {}
