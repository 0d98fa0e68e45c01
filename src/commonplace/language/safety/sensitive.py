"""Secrets and sensitive matters: detect, mark as sensitive, redact credentials.

Patterns are in sensitive.toml. A memory can be guarded by itself, a passage only with its whole
conversation. So what others could pay, sign or enter with is left out of the passage and stands in
the guarded memory alone; a statement, which is no key to anything, stays in the conversation.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace

from commonplace.language.text.lexicon import any_pattern, load_patterns
from commonplace.language.text.normalise import fold_case
from commonplace.model.memory.candidate import MemoryCandidate, TurnFinding
from commonplace.model.memory.kinds import POLICIES, Kind
from commonplace.model.memory.memory import Sensitivity

_SECRET_WORDS = (
    *("password", "passcode", "passphrase", "pwd", "pin", "code", "token", "api key", "secret"),
    *("license key", "licence key", "serial", "login", "username", "wifi key"),
    *("contraseña", "clave", "código", "mot de passe", "passwort", "kennwort", "schlüssel"),
    *("senha", "wachtwoord", "пароль", "код", "كلمة السر", "كلمة المرور", "رمز"),
)
_HEBREW_SECRET_STEMS = ("סיסמ", "קוד", "טוקן", "מפתח")  # with what is written together with them

# Whole words: "shipping" has a "pin" in it, and its address may be written in any case.
_SECRET_SUBJECT = re.compile(
    rf"(?<!\w)(?:{'|'.join(_SECRET_WORDS)})s?(?!\w)|{'|'.join(_HEBREW_SECRET_STEMS)}"
)


def is_secret_subject(subject: str) -> bool:
    return _SECRET_SUBJECT.search(fold_case(subject)) is not None


REDACTED = "[secret]"  # where a value was left out

_SENSITIVE_DATA = load_patterns("safety/sensitive")
_CREDENTIAL = any_pattern(_SENSITIVE_DATA["credential"])
_SENSITIVE_STATEMENT = any_pattern(_SENSITIVE_DATA["statement"])
_CONFIDENTIAL = any_pattern(_SENSITIVE_DATA["in_trust"])
_API_KEY = re.compile(
    "|".join(f"(?:{pattern})" for pattern in _SENSITIVE_DATA["key"])
)  # case counts
# Thirteen to nineteen figures that begin as cards do, in groups or not.
_CARD_NUMBER = re.compile(r"(?<![\d.-])(?:[3-6]\d{3}|2[2-7]\d\d)(?:[ -]?\d){9,15}(?![\d.]\d|\d)")


def mark_sensitive(found: TurnFinding) -> TurnFinding:
    """With high sensitivity where what it says needs it."""
    if isinstance(found, MemoryCandidate) and _is_sensitive(found):
        return replace(found, sensitivity=Sensitivity.HIGH)
    return found


def redact_credentials(text: str, found: Iterable[TurnFinding]) -> str:
    """A turn as its conversation may keep it: with a mark for what others could misuse."""
    for each in found:
        if isinstance(each, MemoryCandidate) and is_credential(each):
            text = text.replace(each.metadata["value"], REDACTED)
    text = _API_KEY.sub(REDACTED, text)
    return _CARD_NUMBER.sub(lambda number: REDACTED if _is_card(number[0]) else number[0], text)


def is_credential(candidate: MemoryCandidate) -> bool:
    """A value with which others could pay, sign or enter in one's name."""
    if candidate.kind is not Kind.KV:
        return False
    value = candidate.metadata["value"]
    card = _CARD_NUMBER.fullmatch(value)
    if _API_KEY.fullmatch(value) or (card and _is_card(value)):
        return True
    # "My credit card is from Leumi" tells nothing that could be misused.
    return bool(_CREDENTIAL.search(candidate.metadata["subject"]) and re.search(r"\d", value))


def _is_sensitive(candidate: MemoryCandidate) -> bool:
    if is_credential(candidate) or _CONFIDENTIAL.search(candidate.trigger):
        return True
    said = candidate.content
    if _API_KEY.search(said) or any(_is_card(card[0]) for card in _CARD_NUMBER.finditer(said)):
        return True
    return POLICIES[candidate.kind].is_screened and bool(_SENSITIVE_STATEMENT.search(said))


def _is_card(number: str) -> bool:
    """By the check digit that every card has (ISO/IEC 7812)."""
    figures = [int(figure) for figure in reversed(number) if figure.isdigit()]
    doubled = [divmod(2 * figure, 10) for figure in figures[1::2]]
    return (sum(figures[::2]) + sum(map(sum, doubled))) % 10 == 0
