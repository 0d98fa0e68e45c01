"""Texts that break programs: all of Unicode, and fragments of every language a program speaks."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator

LAST_CODE_POINT = 0x10FFFF

FRAGMENTS = (
    "'; DROP TABLE memories; --",
    '" OR ""="',
    "%s %(scope)s {} {0} ${HOME} $(id) `id`",
    "$1 ? :scope :id @x #list(ids)",
    "100% _like_ \\% \\_ \\\\ \\",
    "(?:a+)+$ [[:alpha:]] (?<!x) \\p{L} \\1 ^.*$ *** ((((",
    '{"type":"memory","id":null} [] [[ }{ "\\u0000" \\ud800',
    "<script>alert(1)</script> <!-- --> &amp; &#0;",
    "../../../etc/passwd C:\\nul file:///dev/zero",
    "NaN Infinity -0 1e999 0x7fffffff ٣٫١٤ ½ Ⅷ",
    "\x1b[31mred\x1b[0m \x07\x08\x7f\x80\x9f",
    "line\r\nline\rline\x0bline\x0cline\x85line\u2028line\u2029line",
    "שלום עולם ולכשתגיעו \u200f\u202eevil\u202c \u2066x\u2069",
    "السلام عليكم ﷽ ـــ",
    "👩‍👩‍👧‍👦 🏳️‍🌈 🇮🇱🇵🇹 👍🏽 0️⃣ 🧑🏿‍🚀",
    "e\u0301 \u1e9b\u0323 \ufb01 Å Ω ﹏ ｆｕｌｌ ㎏ ﾊﾝｶｸ ǅ İ ı ß ẞ ς",
    "\u200b\u200c\u200d\ufeff\u2060\u00ad a\u200bb",
    "z̷̢̛͖͚̫͎a̴l̵g̶o " + "\u0301" * 200,
    "漢字かなカナ 한국어 ᄀ\u1161\u11a8 汉语",
    "\ufffe\uffff\U0001fffe \ue000 \U000f0000 \ufffd",
    "profile:1 source:0#0 user:bob 00000000-0000-0000-0000-000000000000",
)
REFUSED = ("", " \t\n ", "\x00", "nul \x00 inside", "\ud800", "half \udfff pair", "\u3000\u2003")


def odd_texts(count: int, seed: int) -> Iterator[str]:
    """The fragments first, then as many made-up ones as are wanted, the same for each seed."""
    yield from FRAGMENTS
    yield from REFUSED
    yield from ("w" * 30_000, "ש" * 30_000, "漢" * 30_000, "x" * 32_001, "a " * 16_000)
    chance = random.Random(seed)
    for number in range(count):
        yield _KINDS[number % len(_KINDS)](chance)


def _any_characters(chance: random.Random) -> str:
    """From the whole range, surrogates included: those must be refused, not crash."""
    return "".join(chr(chance.randint(0, LAST_CODE_POINT)) for _ in range(chance.randint(1, 40)))


def _one_block(chance: random.Random) -> str:
    """A run of one script, wherever it lies: words, marks, digits and signs as they come."""
    plane = chance.choice([0, 0, 0, 0, 1, 1, 2, 3, 14, 15, 16])
    start = (plane << 16) + chance.randrange(0, 0x10000 - 128)
    characters = [chr(start + chance.randrange(128)) for _ in range(chance.randint(1, 30))]
    return "".join(character + " " * chance.randrange(2) for character in characters)


def _torn_fragments(chance: random.Random) -> str:
    """Pieces of fragments glued together where they do not fit."""
    pieces = []
    for _ in range(chance.randint(1, 4)):
        fragment = chance.choice(FRAGMENTS)
        start = chance.randrange(len(fragment))
        pieces.append(fragment[start : start + chance.randint(1, 30)])
    return chance.choice(["", " ", "\n", "\u200d"]).join(pieces)


def _control_characters(chance: random.Random) -> str:
    low = [chr(chance.randint(1, 0xA0)) for _ in range(chance.randint(1, 20))]
    return "".join(low) + chance.choice(["", "\ufeff", "\u202e", "\u0301"])


_KINDS: tuple[Callable[[random.Random], str], ...] = (
    _any_characters,
    _one_block,
    _torn_fragments,
    _control_characters,
)
