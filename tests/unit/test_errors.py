"""Every error has a code of its own, says what was wrong and what to do."""

from __future__ import annotations

import re

import pytest

from commonplace import errors

ALL = errors.all_errors()


def test_error_codes_are_unique_lowercase_words():
    codes = [error.code for error in ALL]
    assert len(set(codes)) == len(codes)
    assert all(re.fullmatch(r"[a-z_]+", code) for code in codes)


@pytest.mark.parametrize("error", ALL)
def test_every_error_has_a_remedy(error):
    raised = error("Something was wrong.", field="place")
    assert raised.remedy.endswith(".")
    assert raised.as_dict() == {
        "code": error.code,
        "message": "Something was wrong.",
        "remedy": error.default_remedy,
        "retryable": error.retryable,
        "field": "place",
    }


def test_error_remedy_can_be_overridden():
    assert errors.NotFound("Gone.", remedy="Look again.").remedy == "Look again."


def test_error_without_a_field_omits_the_field():
    assert "field" not in errors.NotFound("Gone.").as_dict()


def test_error_retryable_flag_is_set_for_transient_errors_only():
    retryable = {error.code for error in ALL if error.retryable}
    passing = {"stale_decision", "store_busy", "store_unavailable", "embedder_unavailable"}
    assert retryable == passing | {"rate_limited", "model_unavailable"}


def test_errors_module_docstring_lists_every_error():
    assert all(error.__name__ in (errors.__doc__ or "") for error in ALL)
