"""Lookup keys of a memory: statements, subject, contact, names.

Two memories that may be equal, or of which one may change the other, share a key. Keys are short
digests, so that they can contain any text.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from hashlib import blake2b

from commonplace.language.fields.phone_email import email_key, phone_key
from commonplace.language.text.detect import statement_language, statement_languages
from commonplace.language.text.normalise import fold
from commonplace.language.text.terms import analyse
from commonplace.lazy import lazy_imports
from commonplace.model.memory.kinds import Kind
from commonplace.model.memory.memory import Memory

with lazy_imports(__name__):
    from commonplace.language.compare.statement import parse_statement

_MAX_LANGUAGES = 3  # a short text may fit several languages, and gets keys for each


def statement_keys(text: str) -> frozenset[str]:
    """Frame and subject of each claim: "lives_in|dana"."""
    found = set()
    for language in statement_languages(text)[:_MAX_LANGUAGES]:
        for claim in parse_statement(text, language).claims:
            found.add(claim.key)
            if claim.frame.symmetric:
                ends = sorted(token.term for token in claim.value if token.term)
                found.add(f"{claim.about}|{' '.join(ends)}")
    return frozenset(found)


def subject_terms(text: str) -> tuple[str, ...]:
    """Terms of a key-value subject: "my wifi password" and "the wifi password" have the same."""
    parsed = parse_statement(text, statement_language(text))
    found = {_to_absolute_form(token.term) for token in parsed.content if token.term != "@me"}
    return tuple(sorted(found)) or tuple(sorted(set(analyse(text)))) or (text.casefold(),)


def _to_absolute_form(term: str) -> str:
    """Hebrew compounds change the end of the first noun: סיסמת נטפליקס, הסיסמה של נטפליקס."""
    return term[:-1] + "ה" if len(term) > 3 and term[-1] == "ת" else term


MAX_STATEMENT_CHARACTERS = 600  # longer text is not a single statement


def memory_keys(memory: Memory) -> frozenset[str]:
    return frozenset(
        blake2b(f"{memory.kind}|{key}".encode(), digest_size=8).hexdigest()
        for key in _plain_keys(memory)
    )


def _plain_keys(memory: Memory) -> Iterator[str]:
    yield f"text|{fold(memory.content)}"
    if memory.kind is Kind.KV:
        yield f"subject|{subject_key(str(memory.metadata.get('subject', '')))}"
    elif memory.kind is Kind.CONTACT:
        yield from _contact_keys(memory)
    elif len(memory.content) <= MAX_STATEMENT_CHARACTERS:
        yield from statement_keys(memory.content)


NAME_KEY_PREFIX = "n"  # prefix of name keys; statement digests begin differently
_LONGEST_NAME = 5


def memory_name_keys(memory: Memory) -> frozenset[str]:
    """Names that a question may use: the contact's name, the subject of a value, aliases."""
    named = [memory.metadata.get(field) for field in ("name", "subject")]
    aliases = memory.metadata.get("aliases")
    named += aliases if isinstance(aliases, list) else [aliases]
    terms = (analyse(name) for name in named if isinstance(name, str))
    return frozenset(_name_key(each) for each in terms if 0 < len(each) <= _LONGEST_NAME)


def name_keys_in_terms(terms: Sequence[str]) -> frozenset[str]:
    """Keys of all names that adjacent terms of a question may form."""
    return frozenset(
        _name_key(terms[start:end])
        for start in range(len(terms))
        for end in range(start + 1, min(start + _LONGEST_NAME, len(terms)) + 1)
    )


def _name_key(terms: Sequence[str]) -> str:
    return NAME_KEY_PREFIX + blake2b(" ".join(terms).encode(), digest_size=8).hexdigest()


def subject_key(subject: str) -> str:
    """The terms of a subject, sorted; its letters if it has none."""
    return " ".join(sorted(set(subject_terms(subject)))) or fold(subject)


def _contact_keys(memory: Memory) -> Iterator[str]:
    yield f"name|{fold(str(memory.metadata.get('name', '')))}"
    if phone := phone_key(str(memory.metadata.get("phone") or "")):
        yield f"phone|{phone}"
    if email := email_key(str(memory.metadata.get("email") or "")):
        yield f"email|{email}"
