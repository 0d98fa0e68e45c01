"""Which subjects have values where every letter counts, capitals included."""

import re

from commonplace.language.normalise import fold_case

_WORDS = (
    *("password", "passcode", "passphrase", "pwd", "pin", "code", "token", "api key", "secret"),
    *("license key", "licence key", "serial", "login", "username", "wifi key"),
    *("contraseña", "clave", "código", "mot de passe", "passwort", "kennwort", "schlüssel"),
    *("senha", "wachtwoord", "пароль", "код", "كلمة السر", "كلمة المرور", "رمز"),
)
_HEBREW = ("סיסמ", "קוד", "טוקן", "מפתח")  # with what is written together with them

# Whole words: "shipping" has a "pin" in it, and its address may be written in any case.
_SECRET = re.compile(rf"(?<!\w)(?:{'|'.join(_WORDS)})s?(?!\w)|{'|'.join(_HEBREW)}")


def is_secret(subject: str) -> bool:
    return _SECRET.search(fold_case(subject)) is not None
