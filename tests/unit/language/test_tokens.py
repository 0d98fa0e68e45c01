"""Counting and cutting by tokens."""

import subprocess
import sys
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from commonplace.language.text import tokens
from commonplace.language.text.tokens import count_tokens, cut_to_tokens

SENTENCE = "Dana moved from Haifa to Berlin because she found a better job."


def test_count_tokens_counts_words_and_grows_with_text() -> None:
    assert count_tokens("") == 0
    assert count_tokens("hello world") == 2
    assert count_tokens(SENTENCE * 2) > count_tokens(SENTENCE)


def test_count_tokens_needs_no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise AssertionError("no network here")

    monkeypatch.setattr("socket.socket", refuse)
    tokens._load.cache_clear()
    assert count_tokens("hello world") == 2


def test_count_tokens_does_not_import_wordllama() -> None:
    code = (
        "import sys; from commonplace.language.text.tokens import count_tokens; count_tokens('a');"
        "sys.exit('wordllama' in sys.modules)"
    )
    env = {"PYTHONPATH": ":".join(sys.path)}
    assert subprocess.run([sys.executable, "-c", code], env=env, check=False).returncode == 0


def test_cut_to_tokens_leaves_a_fitting_text_unchanged() -> None:
    assert cut_to_tokens(SENTENCE, count_tokens(SENTENCE)) == SENTENCE


def test_cut_to_tokens_cuts_after_a_word_with_ellipsis() -> None:
    assert cut_to_tokens(SENTENCE, 5) == "Dana moved from…"
    assert cut_to_tokens(SENTENCE, 1) == "…"
    assert cut_to_tokens(SENTENCE, 0) == ""
    assert cut_to_tokens("", 0) == ""


def test_cut_to_tokens_cuts_text_without_spaces() -> None:
    assert cut_to_tokens("我住在北京" * 20, 6).endswith("…")
    assert len(cut_to_tokens("x" * 500, 10)) > 10


def test_cut_to_tokens_refuses_a_negative_budget() -> None:
    with pytest.raises(ValueError, match="budget"):
        cut_to_tokens("text", -1)


def test_count_tokens_error_names_the_missing_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tokens, "find_spec", lambda _: None)
    tokens._load.cache_clear()
    with pytest.raises(ValueError, match="wordllama"):
        count_tokens("text")


@settings(deadline=None)  # the first example may load the tokenizer
@given(st.text(st.characters(exclude_categories=["Cs"])), st.integers(0, 12))
def test_cut_to_tokens_never_exceeds_the_budget(text: str, budget: int) -> None:
    cut = cut_to_tokens(text, budget)
    assert count_tokens(cut) <= budget
    assert cut == text or cut == "" or text.startswith(cut.removesuffix("…"))


@settings(deadline=None)
@given(st.lists(st.sampled_from(SENTENCE.split()), max_size=12), st.integers(1, 20))
def test_cut_to_tokens_keeps_the_longest_fitting_prefix(chosen: list[str], budget: int) -> None:
    text = " ".join(chosen)
    beginnings = [" ".join(chosen[:n]) + "…" for n in range(1, len(chosen))]
    fitting = [beginning for beginning in beginnings if count_tokens(beginning) <= budget]
    cut = cut_to_tokens(text, budget)
    assert len(cut) >= max(map(len, fitting), default=0)
