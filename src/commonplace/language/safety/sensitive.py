"""Secrets and sensitive topics: detects them, marks memories sensitive, redacts credentials.

The patterns are in sensitive.toml. A single memory can be protected, a passage only with its whole
conversation. Therefore credentials are redacted in the passage and stored only in the protected
memory; sensitive statements stay in the conversation.
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
_HEBREW_SECRET_STEMS = ("סיסמ", "קוד", "טוקן", "מפתח")  # with prefixes and suffixes

# Whole words: "shipping" contains "pin".
_SECRET_SUBJECT = re.compile(
    rf"(?<!\w)(?:{'|'.join(_SECRET_WORDS)})s?(?!\w)|{'|'.join(_HEBREW_SECRET_STEMS)}"
)


def is_secret_subject(subject: str) -> bool:
    return _SECRET_SUBJECT.search(fold_case(subject)) is not None


REDACTED = "[secret]"  # in place of a credential

_SENSITIVE_DATA = load_patterns("safety/sensitive")
_CREDENTIAL = any_pattern(_SENSITIVE_DATA["credential"])
_SENSITIVE_STATEMENT = any_pattern(_SENSITIVE_DATA["statement"])
_CONFIDENTIAL = any_pattern(_SENSITIVE_DATA["in_trust"])
_API_KEY = re.compile(
    "|".join(f"(?:{pattern})" for pattern in _SENSITIVE_DATA["key"])
)  # case-sensitive
# 13 to 19 digits with the prefix of a card number, in groups or not.
_CARD_NUMBER = re.compile(r"(?<![\d.-])(?:[3-6]\d{3}|2[2-7]\d\d)(?:[ -]?\d){9,15}(?![\d.]\d|\d)")


def mark_sensitive(found: TurnFinding) -> TurnFinding:
    """Raise the sensitivity to high if the content needs it."""
    if isinstance(found, MemoryCandidate) and _is_sensitive(found):
        return replace(found, sensitivity=Sensitivity.HIGH)
    return found


def redact_credentials(text: str, found: Iterable[TurnFinding]) -> str:
    """A turn for storage in its conversation: credentials are replaced by a mark."""
    for each in found:
        if isinstance(each, MemoryCandidate) and is_credential(each):
            text = text.replace(each.metadata["value"], REDACTED)
    text = _API_KEY.sub(REDACTED, text)
    return _CARD_NUMBER.sub(lambda number: REDACTED if _is_card(number[0]) else number[0], text)


def is_credential(candidate: MemoryCandidate) -> bool:
    """Whether the value lets others pay, sign or log in as the user."""
    if candidate.kind is not Kind.KV:
        return False
    value = candidate.metadata["value"]
    card = _CARD_NUMBER.fullmatch(value)
    if _API_KEY.fullmatch(value) or (card and _is_card(value)):
        return True
    # "My credit card is from Leumi" contains nothing to misuse.
    return bool(_CREDENTIAL.search(candidate.metadata["subject"]) and re.search(r"\d", value))


def _is_sensitive(candidate: MemoryCandidate) -> bool:
    if is_credential(candidate) or _CONFIDENTIAL.search(candidate.trigger):
        return True
    content = candidate.content
    if _API_KEY.search(content) or any(
        _is_card(card[0]) for card in _CARD_NUMBER.finditer(content)
    ):
        return True
    return POLICIES[candidate.kind].is_screened and bool(_SENSITIVE_STATEMENT.search(content))


def _is_card(number: str) -> bool:
    """Checks the check digit of a card number (ISO/IEC 7812)."""
    figures = [int(figure) for figure in reversed(number) if figure.isdigit()]
    doubled = [divmod(2 * figure, 10) for figure in figures[1::2]]
    return (sum(figures[::2]) + sum(map(sum, doubled))) % 10 == 0
