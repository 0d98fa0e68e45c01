"""Where every letter counts, and where it does not."""

import pytest

from commonplace.language.safety.sensitive import is_secret_subject


@pytest.mark.parametrize(
    "subject",
    ["wifi password", "PIN", "door codes", "API key", "הסיסמה של הבית", "קוד הבניין", "пароль"],
)
def test_is_secret_subject_detects_passwords_pins_and_codes(subject):
    assert is_secret_subject(subject)


@pytest.mark.parametrize("subject", ["shipping address", "opinion of Dana", "codec", "spinach"])
def test_is_secret_subject_ignores_partial_words(subject):
    assert not is_secret_subject(subject)
