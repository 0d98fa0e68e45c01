"""By what a memory is known again: what it says, whatever the words and however many others.

Two memories that may be the same, or of which one may change the other, share a key. Keys are
short digests, so that any text can be in them.
"""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import blake2b

from commonplace.language.contacts import email_key, phone_key
from commonplace.language.normalise import fold
from commonplace.language.statements.keys import statement_keys, subject_terms
from commonplace.model.kinds import Kind
from commonplace.model.memory import Memory

STATEMENT_CHARACTERS = 600  # what is longer is no statement of one thing


def keys_of(memory: Memory) -> frozenset[str]:
    return frozenset(
        blake2b(f"{memory.kind}|{key}".encode(), digest_size=8).hexdigest()
        for key in _spoken_keys(memory)
    )


def _spoken_keys(memory: Memory) -> Iterator[str]:
    yield f"text|{fold(memory.content)}"
    if memory.kind is Kind.KV:
        yield f"subject|{subject_key(str(memory.metadata.get('subject', '')))}"
    elif memory.kind is Kind.CONTACT:
        yield from _contact_keys(memory)
    elif len(memory.content) <= STATEMENT_CHARACTERS:
        yield from statement_keys(memory.content)


def subject_key(subject: str) -> str:
    """The terms of a subject in any order; of one that has none, its letters."""
    return " ".join(sorted(set(subject_terms(subject)))) or fold(subject)


def _contact_keys(memory: Memory) -> Iterator[str]:
    yield f"name|{fold(str(memory.metadata.get('name', '')))}"
    if phone := phone_key(str(memory.metadata.get("phone") or "")):
        yield f"phone|{phone}"
    if email := email_key(str(memory.metadata.get("email") or "")):
        yield f"email|{email}"
