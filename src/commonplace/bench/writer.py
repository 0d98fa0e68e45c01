"""Run in a fresh process, under strace: remembers so many things and ends."""

from __future__ import annotations

import sys

import commonplace
from commonplace.bench.data import Writer


def remember(url: str, count: int) -> None:
    with commonplace.open(url, embedder="hashing", tidy_on_open=False) as book:
        me = book.user("writer")
        for sentence in Writer().sentences(count):
            me.remember(sentence)


if __name__ == "__main__":
    remember(sys.argv[1], int(sys.argv[2]))
