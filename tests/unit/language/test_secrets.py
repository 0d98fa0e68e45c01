"""Where every letter counts, and where it does not."""

import pytest

from commonplace.language.safety.sensitive import is_secret_subject


@pytest.mark.parametrize(
    "subject",
    ["wifi password", "PIN", "door codes", "API key", "הסיסמה של הבית", "קוד הבניין", "пароль"],
)
def test_a_secret_is_told_by_its_name(subject):
    assert is_secret_subject(subject)


@pytest.mark.parametrize("subject", ["shipping address", "opinion of Dana", "codec", "spinach"])
def test_a_word_that_only_holds_such_a_name_is_none(subject):
    assert not is_secret_subject(subject)
