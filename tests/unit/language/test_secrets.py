"""Secrets are found by their looks and words; look-alikes are left alone."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from commonplace.language.safety.secrets import REDACTED, find_secrets, redact_secrets

LABELLED = Path(__file__).parents[3] / "labelled"


def labelled(half, *, secret):
    rows = (LABELLED / f"secrets-{half}.jsonl").read_text(encoding="utf-8").splitlines()
    return [row for row in map(json.loads, rows) if bool(row["secrets"]) is secret]


@pytest.mark.parametrize("half", ["open", "sealed"])
def test_secrets_of_the_labelled_set_are_redacted(half):
    rows = labelled(half, secret=True)
    found = [
        row
        for row in rows
        if not any(each in redact_secrets(row["text"]) for each in row["secrets"])
    ]
    print(f"{half}: {len(found)} of {len(rows)}")  # totals only: one half is sealed
    assert len(found) / len(rows) >= 0.95


@pytest.mark.parametrize("half", ["open", "sealed"])
def test_harmless_look_alikes_of_secrets_stay(half):
    rows = labelled(half, secret=False)
    changed = [row for row in rows if redact_secrets(row["text"]) != row["text"]]
    print(f"{half}: {len(changed)} of {len(rows)}")
    assert len(changed) / len(rows) <= 0.05


def test_redacting_twice_changes_nothing():
    for row in labelled("open", secret=True):
        once = redact_secrets(row["text"])
        assert redact_secrets(once) == once


def test_redaction_keeps_the_words_around_a_secret():
    said = "Connect to postgres://admin:s3cr3t@db.example.com/app, please."
    assert (
        redact_secrets(said)
        == f"Connect to postgres://admin:{REDACTED}@db.example.com/app, please."
    )


UNITS = ("my password ", "pin code 12 ", "password:", "1234 5678 ", "A", "4", "a://", "GB12 ", " ")


@pytest.mark.parametrize("unit", UNITS)
def test_search_for_secrets_ends_on_repetitive_texts(unit):
    """Only that it ends: a backtracking pattern would not."""
    assert find_secrets((unit * 32_000)[:32_000]) is not None
