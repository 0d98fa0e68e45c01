"""Sentence boundaries, wrapped lines, past tense and one-line summaries."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from commonplace.language.text.lexicon import load_word_lists
from commonplace.language.text.normalise import split_words
from commonplace.language.text.terms import analyse
from commonplace.model.validation import stored_form

_SENTENCE_END = re.compile(
    # A stop, closing characters, then space. Possessive (++): a row of dots would backtrack.
    r"(?<![.!?…])[.!?…]++[\"'”’»)\]]*+(?=\s)"
    r"|[。！？｡]+[」』”）]*"  # East Asian stops need no space after them
    r"|\n"
)

_ABBREVIATION = re.compile(
    r"dr|mr|mrs|ms|prof|st|sr|jr|vs|etc|approx|dept|est|fig|inc|ltd|co|corp|gen|col|sgt|capt|lt|rev"
    r"|e\.g|i\.e|a\.m|p\.m|cf|al|ca|resp|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec"
    r"|z\.b|d\.h|usw|bzw|nr|str|ggf|evtl|inkl|mme|mlle|p\.ex|sra|dott|sig|bijv|т\.[едп]|г|ул"
)
# These also end sentences ("I said no."): abbreviations only before a number.
_BEFORE_NUMBERS = re.compile("nos?|pp?|vol|ch|sec|art|tel|mob|ph|טל")

# These may also be at the end of a sentence: "I work at Acme Corp. My manager …".
_AT_THE_END = re.compile(r"\b(?:inc|ltd|co|corp|jr|sr|etc|[ap]\.m)$", re.IGNORECASE)
_SENTENCE_OPENER = re.compile(
    r"\s+(?:I|My|We|Our|He|His|She|Her|They|Their|It|Its|You|Your|The|This|That|There|But|And|So)"
    r"(?!\w)"
)

_LOOK_BACK = 20
_LAST_WORD = re.compile(r"(?:[א-ת]+[\"״])?[\w.]*\w$")  # מ״ג is not an initial


# A longer sentence is cut at white space: what is said of sentences takes time that grows faster
# than their length. A longer block without a paragraph would hold up other threads.
MAX_SENTENCE = 2000
_MAX_BLOCK = 50_000


def split_sentences(text: str, longest: int = MAX_SENTENCE) -> list[str]:
    """Trimmed sentences of a text in order; a line break always ends one."""
    sentences = (one for block in _cut(text, _MAX_BLOCK) for one in _sentences_of_block(block))
    return [piece for sentence in sentences for piece in _cut(sentence, longest)]


def _cut(text: str, limit: int) -> Iterator[str]:
    """Trimmed pieces of at most `limit` characters, cut at white space if there is any."""
    start = 0
    while start < len(text):
        end = start + limit
        if end < len(text):
            end = _last_word_start(text, start, end) or end
        if piece := text[start:end].strip():
            yield piece
        start = end


def _last_word_start(text: str, start: int, end: int) -> int | None:
    """Where the last word before `end` starts; None if it starts before `start`."""
    if text[end - 1].isspace():
        return end
    *before, last = text[start:end].rsplit(maxsplit=1)
    return end - len(last) if before else None


def _sentences_of_block(text: str) -> list[str]:
    found: list[str] = []
    start = 0
    for stop in _SENTENCE_END.finditer(text):
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
    return bool(_AT_THE_END.search(before) and _SENTENCE_OPENER.match(text, stop.end()))


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


_NARROWEST, _WIDEST = 55, 100  # characters of a full line
_LINE_END = re.compile(r"[.!?:;…][\"'”’»)]*\s*$|^\s*$")
_OWN_LINE_START = re.compile(
    r"\s*(?:[-*•>|#]|\d{1,3}[.)]\s|\S+(?: \S+){0,2}:\s|$)"
)  # a line of its own
_MIN_WRAPPED_LINES = 2


def unwrap_lines(text: str) -> str:
    """Replace line breaks of wrapped text by spaces, so that offsets stay valid. A line is full if
    the next line's first word would not fit; a single full line is not evidence."""
    lines = text.split("\n")
    width = max(map(len, lines))
    if not _NARROWEST <= width <= _WIDEST:
        return text
    full = [_line_continues(*two, width) for two in pairwise(lines)]
    is_wrapped = sum(full) >= _MIN_WRAPPED_LINES
    signs = (
        " " if continues and (is_wrapped or following.lstrip()[0].islower()) else "\n"
        for continues, following in zip(full, lines[1:], strict=True)
    )
    return "".join(part for two in zip(lines, (*signs, ""), strict=True) for part in two)


def _line_continues(line: str, following: str, width: int) -> bool:
    if _LINE_END.search(line) or _OWN_LINE_START.match(following):
        return False
    return len(line) + 1 + len(following.split(maxsplit=1)[0]) > width


_PAST_VERBS = load_word_lists("text/past_verbs.txt")

_ENGLISH_PAST = re.compile(r"[a-z]{2,}ed")
# התקשר, החליטה, הוחלט, נפגשה; הלכתי; הלכו, but not the future ילכו. A noun of this form counts as a
# verb, which can suppress a remark but never adds a wrong one.
_HEBREW_PAST = re.compile(
    r"הת[א-ת]{2,}ה?|ה[א-ת]{2}י[א-ת]ה?|הו[א-ת]{2,3}ה?|נ[א-ת]{3}ה?"
    r"|[א-ת]{2,}(?:תי|תם|תן)|(?![יתנא])[א-ת]{3,}ו"
)
_AND_OR_THAT = "וש"


def is_past(sentence: str) -> bool:
    """Whether at least one verb of the sentence is in the past tense."""
    return any(_is_past_word(word) for word in split_words(sentence))


def _is_past_word(word: str) -> bool:
    if word.isascii():
        return _is_past_in("en", word, _ENGLISH_PAST)
    bare = word[1:] if word[0] in _AND_OR_THAT else word
    return _is_past_in("he", word, _HEBREW_PAST) or _is_past_in("he", bare, _HEBREW_PAST)


def _is_past_in(language: str, word: str, shape: re.Pattern[str]) -> bool:
    if word in _PAST_VERBS[language]:
        return True
    return bool(shape.fullmatch(word)) and word not in _PAST_VERBS[f"{language} not"]


# Endings of one-word past tenses. Endings that many nouns share are left out.
_PAST_ENDING = {
    "es": re.compile(r"\w{2,}(?:ó|aron|ieron|amos|imos|aste)"),
    "pt": re.compile(r"\w{2,}(?:ou|aram|eram|iram|ámos)"),
    # Past forms lack the ו of the present (כתבה, כותבת); "ours" and "mine" end in נו and תי.
    "he": re.compile(r"(?!מ)[א-ת][א-הז-ת][א-ת]ה?|[א-ת]{2,}(?:נו|תי)|הת[א-ת]{2,}ה?"),
    "ar": re.compile(r"(?![تين])\w{2,}ت"),
    "ru": re.compile(r"\w{2,}(?:[аеиоуыюя]л[аи]?|л[аи]?сь|лся)"),
}


def is_past_verb(word: str, language: str) -> bool:
    """Whether a word is a verb in the past tense."""
    if language == "en":
        return is_past(word)
    ending = _PAST_ENDING.get(language)
    return ending is not None and ending.fullmatch(word) is not None


# A shorter sentence is a greeting, a thank-you or a heading.
_MIN_TERMS = 3
_MAX_SENTENCES = 2
_ELLIPSIS = "…"


def summarise(text: str, limit: int = 160) -> str:
    """The text if it is one or two short sentences, else its first informative sentence."""
    if limit < 1:
        raise ValueError(f"limit must be at least 1, not {limit}")
    whole = stored_form(text)
    short = len(whole) <= limit and "\n" not in whole
    if short and len(split_sentences(whole)) <= _MAX_SENTENCES:
        return whole
    return _truncate(" ".join(_main_sentence(whole).split()), limit)


def _main_sentence(text: str) -> str:
    """The main point usually comes first: the first sentence, unless it is trivial."""
    found = split_sentences(text)
    sizes = [len(analyse(sentence)) for sentence in found]
    for sentence, size in zip(found, sizes, strict=True):
        if size >= _MIN_TERMS:
            return sentence
    return found[sizes.index(max(sizes))]


def _truncate(line: str, limit: int) -> str:
    """At most `limit` characters, cut at a word end if possible."""
    if len(line) <= limit:
        return line
    room = limit - len(_ELLIPSIS)
    head = line[: room + 1]
    at_word = head[: head.rfind(" ")] if " " in head else line[:room]
    return at_word.rstrip(" ,;:-–—") + _ELLIPSIS
