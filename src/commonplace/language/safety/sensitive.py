"""Sensitive topics and credentials: marks memories sensitive, redacts credentials in turns.

The patterns are in sensitive.toml, those of secrets in secrets.toml. A single memory can be
protected, a passage only with its whole conversation. Therefore credentials are redacted in the
passage and stored only in the protected memory; sensitive statements stay in the conversation.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from commonplace.language.safety.secret_words import REDACTED
from commonplace.language.safety.secrets import redact_secrets, secret_values
from commonplace.language.text.lexicon import any_pattern, load_patterns
from commonplace.language.text.normalise import fold_case
from commonplace.model.memory.candidate import ForgetRequest, MemoryCandidate, TurnFinding
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


_SENSITIVE_DATA = load_patterns("safety/sensitive")
_CREDENTIAL = any_pattern(_SENSITIVE_DATA["credential"])
_SENSITIVE_STATEMENT = any_pattern(_SENSITIVE_DATA["statement"])
_CONFIDENTIAL = any_pattern(_SENSITIVE_DATA["in_trust"])


def mark_sensitive(found: TurnFinding) -> TurnFinding:
    """Raise the sensitivity to high if the content needs it."""
    if isinstance(found, MemoryCandidate) and _is_sensitive(found):
        return replace(found, sensitivity=Sensitivity.HIGH)
    return found


def guard_secrets(found: TurnFinding, secrets: Sequence[str]) -> TurnFinding | None:
    """Of what a turn says in passing, the secrets are redacted; what the user states as a value, or
    asks to have remembered, is kept with high sensitivity. None: there is nothing else in it."""
    if isinstance(found, ForgetRequest):
        return found
    if found.kind in (Kind.KV, Kind.CONTACT) and _contains_any(found, [REDACTED]):
        return None  # its value was redacted before
    if not _contains_any(found, secrets):
        return found
    if found.kind is Kind.KV or found.asked:
        return replace(found, sensitivity=Sensitivity.HIGH)
    if found.kind is Kind.CONTACT:  # an address that is part of a connection string
        return None
    return replace(
        found,
        content=_without(found.content, secrets),
        trigger=_without(found.trigger, secrets),
        evidence=tuple(_without(each, secrets) for each in found.evidence),
        metadata={name: _without(value, secrets) for name, value in found.metadata.items()},
        profile_value=found.profile_value and _without(found.profile_value, secrets),
        otherwise=tuple(_without(each, secrets) for each in found.otherwise),
    )


def _contains_any(candidate: MemoryCandidate, secrets: Sequence[str]) -> bool:
    texts = (candidate.content, *candidate.metadata.values(), candidate.profile_value or "")
    return any(secret in text for secret in secrets for text in texts)


def _without(text: str, secrets: Sequence[str]) -> str:
    for secret in secrets:
        text = text.replace(secret, REDACTED)
    return text


def redact_credentials(text: str, found: Iterable[TurnFinding]) -> str:
    """A turn for storage in its conversation: credentials are replaced by a mark."""
    for each in found:
        if isinstance(each, MemoryCandidate) and is_credential(each):
            text = text.replace(each.metadata["value"], REDACTED)
    return redact_secrets(text)


def is_credential(candidate: MemoryCandidate) -> bool:
    """Whether the value lets others pay, sign or log in as the user."""
    if candidate.kind is not Kind.KV:
        return False
    return is_credential_value(candidate.metadata["subject"], candidate.metadata["value"])


def is_credential_value(subject: str, value: str) -> bool:
    if secret_values(f"{subject}: {value}"):
        return True
    # "My credit card is from Leumi" contains nothing to misuse.
    return bool(_CREDENTIAL.search(subject) and re.search(r"\d", value))


def _is_sensitive(candidate: MemoryCandidate) -> bool:
    if is_credential(candidate) or _CONFIDENTIAL.search(candidate.trigger):
        return True
    content = candidate.content
    if secret_values(content):
        return True
    return POLICIES[candidate.kind].is_screened and bool(_SENSITIVE_STATEMENT.search(content))
