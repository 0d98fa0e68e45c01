"""Lines of a text. Python's own `splitlines` ends them at characters that JSON lets stand in a
value, such as U+2028 and U+0085: a memory that holds one would be torn apart."""

from __future__ import annotations

from collections.abc import Iterable, Iterator


def lines_of(text: str) -> list[str]:
    """Ended by a line feed, with or without a carriage return before it."""
    return [line.removesuffix("\r") for line in text.removesuffix("\n").split("\n")] if text else []


def lines_in(pieces: Iterable[bytes]) -> Iterator[str]:
    """The same of what arrives in pieces, which end anywhere: each line when it is whole."""
    rest = b""
    for piece in pieces:
        *whole, rest = (rest + piece).split(b"\n")
        yield from (line.decode("utf-8").removesuffix("\r") for line in whole)
    if rest:
        yield rest.decode("utf-8").removesuffix("\r")
