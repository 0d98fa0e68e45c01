"""Where sentences end: a simple rule that knows abbreviations, initials, numbers and CJK stops."""

import re

_END = re.compile(
    # A stop, what closes with it, and then space. Possessive (++), or a row of dots takes forever.
    r"(?<![.!?…])[.!?…]++[\"'”’»)\]]*+(?=\s)"
    r"|[。！？｡]+[」』”）]*"  # East Asian stops need no space after them
    r"|\n"
)

_ABBREVIATION = re.compile(
    r"dr|mr|mrs|ms|prof|st|sr|jr|vs|etc|approx|dept|est|fig|inc|ltd|co|corp|gen|col|sgt|capt|lt|rev"
    r"|e\.g|i\.e|a\.m|p\.m|cf|al|ca|resp|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec"
    r"|z\.b|d\.h|usw|bzw|nr|str|ggf|evtl|inkl|mme|mlle|p\.ex|sra|dott|sig|bijv|т\.[едп]|г|ул"
)
# These also end sentences ("I said no."), so they are abbreviations only before a number.
_BEFORE_NUMBERS = re.compile("nos?|pp?|vol|ch|sec|art|tel|mob|ph|טל")

# These stand at a sentence's end as well: "I work at Acme Corp. My manager …".
_AT_THE_END = re.compile(r"\b(?:inc|ltd|co|corp|jr|sr|etc|[ap]\.m)$", re.IGNORECASE)
_BEGINS = re.compile(
    r"\s+(?:I|My|We|Our|He|His|She|Her|They|Their|It|Its|You|Your|The|This|That|There|But|And|So)"
    r"(?!\w)"
)

_LOOK_BACK = 20
_LAST_WORD = re.compile(r"(?:[א-ת]+[\"״])?[\w.]*\w$")  # מ״ג is no initial


def sentences(text: str) -> list[str]:
    """The sentences of a text, trimmed, in their order; a line break always ends one."""
    found: list[str] = []
    start = 0
    for stop in _END.finditer(text):
        if _ends_sentence(text, start, stop):
            found.append(text[start : stop.end()].strip())
            start = stop.end()
    found.append(text[start:].strip())
    return [sentence for sentence in found if sentence]


def _ends_sentence(text: str, start: int, stop: re.Match[str]) -> bool:
    mark = stop[0]
    if mark[0] not in ".…":
        return True
    before = text[max(start, stop.start() - _LOOK_BACK) : stop.start()]
    following = _next_character(text, stop.end())
    if following.islower():
        return False
    if mark != "." or not _is_abbreviated(before, following):
        return True
    return bool(_AT_THE_END.search(before) and _BEGINS.match(text, stop.end()))


def _next_character(text: str, position: int) -> str:
    """The first character after the space; a line break counts as the end of the text."""
    while position < len(text) and text[position].isspace():
        if text[position] == "\n":
            return ""
        position += 1
    return text[position : position + 1]


def _is_abbreviated(before: str, following: str) -> bool:
    """Whether the full stop after `before` belongs to its last word."""
    if not following:
        return False
    last = _LAST_WORD.search(before)
    if last is None:
        return False
    word = last[0].casefold()
    if _ABBREVIATION.fullmatch(word):
        return True
    if _BEFORE_NUMBERS.fullmatch(word) and following.isdigit():
        return True
    is_initial = len(word) == 1 and word.isalpha() and word != "i"
    is_list_number = word.isdigit() and before.strip() == last[0]
    return is_initial or is_list_number
