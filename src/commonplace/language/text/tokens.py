"""Language-model tokens: counting, and cutting text to a budget."""

import re
import threading
from bisect import bisect_right
from collections.abc import Sequence
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from commonplace.language.text.normalise import CJK

if TYPE_CHECKING:  # slow import: deferred to the first use
    from tokenizers import Encoding, Tokenizer

_ELLIPSIS = "…"
_TOKENIZER_FILE = Path("tokenizers", "l2_supercat_tokenizer_config.json")
# The longest token of the vocabulary, so that long texts need not be encoded whole.
_LONGEST_TOKEN = 16
_LOOK_AHEAD = 3

# Positions for a cut: the end of a word, or any character where words have no spaces.
_WORD_END = re.compile(rf"[{CJK}]|\S(?=\s|[{CJK}])|\S\Z")

_loading = threading.Lock()


def count_tokens(text: str) -> int:
    """The number of tokens of a text, without a chat format's special tokens."""
    return len(_encode(text).ids)


def cut_to_tokens(text: str, budget: int) -> str:
    """The text, or its longest prefix of at most `budget` tokens including a final "…"."""
    if budget < 0:
        raise ValueError(f"budget must not be negative, not {budget}")
    head = text[: (budget + 1) * _LONGEST_TOKEN]
    if head == text and count_tokens(text) <= budget:
        return text
    if count_tokens(_ELLIPSIS) > budget:
        return ""
    word_ends = [end.end() for end in _WORD_END.finditer(head)]
    # If no word end fits, cut inside the first word.
    inside_first_word = range(1, word_ends[0]) if word_ends else range(0)
    return (
        _longest_fitting(head, word_ends, budget)
        or _longest_fitting(head, inside_first_word, budget)
        or _ELLIPSIS
    )


def _longest_fitting(head: str, ends: Sequence[int], budget: int) -> str:
    """The longest `head[:end]` + "…" within the budget; empty if there is none.

    The tokens of the whole text give an estimate. A cut can merge or split tokens, so the search
    starts slightly after it and goes back until the count fits.
    """
    affordable = _encode(head).offsets[budget - 1][1]
    start = bisect_right(ends, affordable) + _LOOK_AHEAD
    for end in reversed(ends[:start]):
        if count_tokens(head[:end] + _ELLIPSIS) <= budget:
            return head[:end] + _ELLIPSIS
    return ""


def _encode(text: str) -> "Encoding":
    return load_tokenizer().encode(text, add_special_tokens=False)


def load_tokenizer() -> "Tokenizer":
    with _loading:
        return _load()


@cache
def _load() -> "Tokenizer":
    """Located without importing wordllama, which would configure logging and load a web client."""
    spec = find_spec("wordllama")
    if spec is None or spec.origin is None:
        raise ValueError("tokens cannot be counted: the package 'wordllama' is not installed")
    file = Path(spec.origin).parent / _TOKENIZER_FILE
    tokenizer: Tokenizer = import_module("tokenizers").Tokenizer.from_file(str(file))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return tokenizer
