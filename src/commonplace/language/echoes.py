"""What the memory itself said, when it comes back in a turn: contexts, bullets, delta headers.

Somebody pastes what an agent was given to read. It is nobody's own words, and is there already.
"""

from __future__ import annotations

import re

# What begins a block of ours: the lines below it belong to it, up to the first that is plain talk.
HEADINGS = (
    "Memory Context",
    "Who you are",
    "Rules to follow",
    "About the user",
    "To keep in mind",
    "Recent events",
    "Recalled for this question",
    "Recent summaries",
    "Now",
    "Memories",
)
_HEADING = re.compile(
    rf"\s*(?:>\s*)*(?:#{{1,6}}\s*(?:{'|'.join(HEADINGS)})\s*$|Memory updates since rev\b)",
    re.IGNORECASE,
)
_IN_A_BLOCK = re.compile(r"\s*(?:>\s*)*(?:$|[-*•–]\s|\[[^\[\]\n]{1,60}\]|#{1,6}\s|\d{1,3}[.)]\s)")
# A line that shows by itself where it is from: "- [tasks] …", "- +created: …".
_CHANGE = re.compile(
    r"\s*(?:>\s*)*[-*•]\s*"
    r"(?:\+created|↑updated|↔merged|[−-]forgotten|×deleted|⟲restored|\?disputed)\s*:",
    re.IGNORECASE,
)
_BULLET = re.compile(r"\s*(?:>\s*)*(?:[-*•]\s*)?\[(?P<word>[\w -]{1,60})\](?:\(\d+\))?\s+\S")


def without_echoes(text: str, words: frozenset[str]) -> str:
    """A turn without the lines that were recalled. ``words`` are the categories and kinds that
    bullets can begin with: "[fix] the door" is somebody's own way of writing."""
    kept: list[str] = []
    inside = goes_on = False  # in a block; after a bullet, whose text may have several lines
    for line in text.split("\n"):
        if _HEADING.match(line):
            inside, goes_on = True, False
            continue
        goes_on = bool(line.strip()) and (goes_on or _is_recalled(line, words))
        inside = inside and (goes_on or _IN_A_BLOCK.match(line) is not None)
        if not inside and not goes_on:
            kept.append(line)
    return "\n".join(kept)


def _is_recalled(line: str, words: frozenset[str]) -> bool:
    bullet = _BULLET.match(line)
    return (bullet is not None and bullet["word"].casefold() in words) or bool(_CHANGE.match(line))
