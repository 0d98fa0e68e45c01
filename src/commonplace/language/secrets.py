"""Which subjects have values where every letter counts, capitals included."""

from commonplace.language.normalise import fold_case

_SECRET = (
    *("password", "passcode", "passphrase", "pwd", "pin", "code", "token", "api key", "secret"),
    *("license key", "licence key", "serial", "login", "username", "wifi key"),
    *("סיסמ", "קוד", "טוקן", "מפתח"),
    *("contraseña", "clave", "código", "mot de passe", "passwort", "kennwort", "schlüssel"),
    *("senha", "wachtwoord", "пароль", "код", "كلمة السر", "كلمة المرور", "رمز"),
)


def is_secret(subject: str) -> bool:
    plain = fold_case(subject)
    return any(word in plain for word in _SECRET)
