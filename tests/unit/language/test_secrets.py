"""Secrets are found by their looks and words; look-alikes are left alone."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from commonplace.language.safety.secret_words import REDACTED
from commonplace.language.safety.secrets import OVERLAP, WINDOW, find_secrets, redact_secrets

LABELLED = Path(__file__).parents[3] / "labelled"


def labelled(half, *, secret):
    rows = (LABELLED / f"secrets-{half}.jsonl").read_text(encoding="utf-8").splitlines()
    return [row for row in map(json.loads, rows) if bool(row["secrets"]) is secret]


def redacted(row):
    return redact_secrets(row["text"], row.get("asked"))


@pytest.mark.parametrize("half", ["open", "sealed"])
def test_secrets_of_the_labelled_set_are_redacted(half):
    rows = labelled(half, secret=True)
    found = [row for row in rows if not any(each in redacted(row) for each in row["secrets"])]
    print(f"{half}: {len(found)} of {len(rows)}")  # totals only: one half is sealed
    assert len(found) / len(rows) >= 0.95


@pytest.mark.parametrize("half", ["open", "sealed"])
def test_harmless_look_alikes_of_secrets_stay(half):
    rows = labelled(half, secret=False)
    changed = [row for row in rows if redacted(row) != row["text"]]
    print(f"{half}: {len(changed)} of {len(rows)}")
    assert len(changed) / len(rows) <= 0.05


def test_redacting_twice_changes_nothing():
    for row in labelled("open", secret=True):
        once = redacted(row)
        assert redact_secrets(once, row.get("asked")) == once


def test_redaction_keeps_the_words_around_a_secret():
    said = "Connect to postgres://admin:s3cr3t@db.example.com/app, please."
    assert (
        redact_secrets(said)
        == f"Connect to postgres://admin:{REDACTED}@db.example.com/app, please."
    )


SAID = {
    "my password's Falcon#12": "Falcon#12",
    "gmail pw Hunter2!x9": "Hunter2!x9",
    "password: correct horse battery staple": "horse",
    "My National Insurance No is QQ 12 34 56 C": "QQ 12 34 56 C",
    "security code on the back is 456": "456",
    "SECRET_KEY='abcdefghijklmnop'": "abcdefghijklmnop",
    "curl -u bob:hunter22 https://api.example.com/v1": "hunter22",
    "my gmail password used to be Hunter2 but now it is Zebra!44": "Hunter2",
    "my gmail password was Hunter2 but now it is Zebra!44": "Zebra!44",
    "Netflix: ana@example.com / Zebra!44": "Zebra!44",
    "הסיסמה לג'ימייל היא תפוז": "תפוז",
    "סיסמא: תפוז אדום": "תפוז",
    "mi contraseña de gmail es Zebra44": "Zebra44",
    "mein Passwort für GMX lautet Zebra44": "Zebra44",
    "mon mot de passe gmail c'est Zebra44": "Zebra44",
    "my gmail password is password123": "password123",
    "my gmail password is $unny(88)": "$unny",
    "The password of my house insurance account is Zebra44": "Zebra44",
}


@pytest.mark.parametrize(("said", "secret"), SAID.items())
def test_everyday_wording_of_a_secret_is_redacted(said, secret):
    assert secret not in redact_secrets(said)


LEFT_ALONE = (
    "the wifi password is tulip42",
    "the code of the garage door is 4711",
    "Please reset my password to continue",
    "password: see the manager app",
    "la clave es la paciencia",
    "Reach me: mia@example.com / 415-555-0142",
    "crystal@example.com | LinkedIn Profile",
    'password = request.form["password"]',
    "apiKey = 'MY_API_KEY'",
    "password = hashed_password",
    "<label>Password:</label>",
    "we talked about password rules and 2FA",
)


@pytest.mark.parametrize("said", LEFT_ALONE)
def test_words_about_secrets_are_left_alone(said):
    assert redact_secrets(said) == said


ANSWERS = {
    ("What's your gmail password?", "Zebra!44"): "[secret]",
    ("I can log in for you. What is your Netflix password?", "it's tulip"): "it's [secret]",
    ("Please send me the verification code.", "774210"): "[secret]",
    ("מה הסיסמה שלך לג'ימייל?", "תפוז33"): "[secret]",
    ("¿Cuál es tu contraseña?", "Luna_7"): "[secret]",
    ("What's the wifi password?", "tulip42"): "tulip42",
    ("What's your gmail password?", "I do not remember it"): "I do not remember it",
    ("Which password manager do you use?", "Bitwarden"): "Bitwarden",
    ("What time is it?", "1730"): "1730",
}


@pytest.mark.parametrize(("turns", "kept"), ANSWERS.items())
def test_bare_answer_is_a_secret_if_one_was_asked_for(turns, kept):
    asked, said = turns
    assert redact_secrets(said, asked) == kept


UNITS = (
    "my password ",
    "pin code 12 ",
    "password:",
    "1234 5678 ",
    "A",
    "4",
    "a://",
    "GB12 ",
    " ",
    "password is a ",
    "a@b.c / ",
    "security code ",
    "seed phrase is ",
    "eyJ-",
    "login a / ",
)


@pytest.mark.parametrize("unit", UNITS)
def test_search_for_secrets_ends_on_repetitive_texts(unit):
    """Only that it ends: a backtracking pattern would not."""
    assert find_secrets((unit * 32_000)[:32_000]) is not None


def test_secrets_in_a_long_text_are_found_across_the_pieces_that_are_searched():
    filler = "the museum opens at ten and closes at six. "
    for place in (0, WINDOW - OVERLAP - 20, WINDOW - 10, 3 * WINDOW):
        before = (filler * (place // len(filler) + 1))[:place] + " "
        text = f"{before}my gmail password is Hunter2!x9. {filler * 900}"
        assert "Hunter2" not in redact_secrets(text)
        assert redact_secrets(text).count(REDACTED) == 1
