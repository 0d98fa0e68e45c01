"""By what a memory is known again: what it says, whatever the words and however many others.

Two memories that may be the same, or of which one may change the other, share a key. Keys are
short digests, so that any text can be in them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from hashlib import blake2b

from commonplace.language.analyse import analyse
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


NAME = "n"  # how a key that is a name begins; digests of statements begin otherwise
_LONGEST_NAME = 5  # terms


def name_keys_of(memory: Memory) -> frozenset[str]:
    """What a question would call it: the name of a contact, the subject of a value, aliases."""
    named = [memory.metadata.get(field) for field in ("name", "subject")]
    aliases = memory.metadata.get("aliases")
    named += aliases if isinstance(aliases, list) else [aliases]
    terms = (analyse(name) for name in named if isinstance(name, str))
    return frozenset(_name_key(each) for each in terms if 0 < len(each) <= _LONGEST_NAME)


def names_in(terms: Sequence[str]) -> frozenset[str]:
    """The keys of whatever a question's terms, side by side, may name."""
    return frozenset(
        _name_key(terms[start:end])
        for start in range(len(terms))
        for end in range(start + 1, min(start + _LONGEST_NAME, len(terms)) + 1)
    )


def _name_key(terms: Sequence[str]) -> str:
    return NAME + blake2b(" ".join(terms).encode(), digest_size=8).hexdigest()


def subject_key(subject: str) -> str:
    """The terms of a subject in any order; of one that has none, its letters."""
    return " ".join(sorted(set(subject_terms(subject)))) or fold(subject)


def _contact_keys(memory: Memory) -> Iterator[str]:
    yield f"name|{fold(str(memory.metadata.get('name', '')))}"
    if phone := phone_key(str(memory.metadata.get("phone") or "")):
        yield f"phone|{phone}"
    if email := email_key(str(memory.metadata.get("email") or "")):
        yield f"email|{email}"
