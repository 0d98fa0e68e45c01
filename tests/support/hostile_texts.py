"""Texts made to be slow to read, every door that takes a text, and how its time grows.

A text is one unit repeated: a character, a piece of mark-up, the words of a pattern. If reading
takes time linear in the length, twice the text takes twice the time whatever the unit.
"""

from __future__ import annotations

import itertools
import json
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType

from commonplace.api import Commonplace, User
from commonplace.errors import CommonplaceError

MAX_GROWTH = 2.5  # of the time, when the text doubles
FLOOR = 0.05  # seconds for the longer text; less is noise and harms nobody
REPEATS = 4  # measurements of a suspicious text; the fastest counts
TIME_LIMIT = 10.0  # seconds; a text that takes longer has failed

_PUNCTUATION = list("?!.,;:'\"()[]{}<>&-–—*_#`|/@$%+=~^\\…؟“”«»") + [
    *("? ", "a?", ". ", " .", "; ", ", ", "a:", ": ", "((", "()", "[]", "- ", "--", "-- \n"),
    *("**", "__", "# ", "```\n", "||", "//", "> ", "> >", "...", "…,", ", ,", "?!", "? [", "] ?"),
    *("!!\n", ".)", '."', "'s ", "s' ", "- - ", "***", "---\n", "=====\n", "_ ", "~~~\n"),
]
_SPACE = [" ", "\t", "\n", "\r", "\r\n", " \n", "\n ", "\t\n", "\u00a0", "\u2028", "\u3000", "\x0c"]
_SPACE += ["\u200b", "\u200e", "\u200f", "\ufeff", "\x1c", "\x85", "\u202f", " , ", " . ", "\n\n- "]
_LETTERS = ["a", "A", "Aa ", "aA", "ab ", "A. ", "a.", "A.", "1", "1.", "1,", "1 ", "1a", "12:"]
_LETTERS += ["א", "אב ", "ו", "ה", "את ", "ге", "漢", "漢字 ", "ｱ", "e\u0301", "\u0301", "\u05b0"]
_LETTERS += ["🙂", "👨‍👩‍👧", "ge", "ver", "ß", "İ", "ﬁ", "א״", "a'", "a-", "a_", "1-", "x1 ", "Aא"]
_DATES = [
    "1/",
    "1/1/",
    "2026-",
    "2026-01-",
    "12:30 ",
    "on Monday ",
    "every day ",
    "3 May ",
    "10am ",
]
_DATES += ["the week of ", "since May ", "in 2021 ", "$", "$1", "1k ", "5 km ", "+972 50-", "0x"]
_ADDRESSES = ["http://", "www.", "a@", "a@b.", "a@b.c ", "<a@b.c>, ", "http://a.b/ ", "@a ", "#a "]
_WORDS = ["I ", "I am ", "and ", "not ", "no, ", "remember ", "my ", "the ", "of ", "my mother's "]
_WORDS += ["Dan ", "Dan and ", "Dan, ", "Dan's ", "Dan told ", "who ", "what ", "if ", "that "]
_WORDS += ["said that ", "in ", "at ", "to ", "אני ", "um ", "um, ", "the the ", "Mr. ", "hi ok "]
_WORDS += [
    "new new ",
    "his ו ",
    "call me at ",
    "is my ",
    " is ",
    "password is ",
    "email ",
    "phone ",
]
_WORDS += [
    "can't ",
    "true ",
    "the wifi is ",
    "Dan Levi ",
    "Dan works at Intel ",
    "I live in Haifa. ",
]
_WORDS += ["for the record ", "please ", "my sister Noa ", "I like tea ", "what about ", "I mean "]
_WORDS += ["you know, ", "no wait, ", "actually ", "from ", "when ", "למה ", "שלי ", "של ", "ואז "]
_WORDS += ["not! ", "sorry, ", "scratch that ", "don't remember ", "forget ", "save this: "]
_MARKUP = ["<a ", "<a", "<a href=", "<a href='", '<a href="x" ', "<!", "<![ ", "<![CDATA[", "<!--"]
_MARKUP += [
    "</",
    "</a",
    "<p>",
    "<div ",
    "<b><i>",
    "<?",
    "<?a ",
    "<!a ",
    "<!-->",
    "<script>",
    "&nbsp;",
]
_MARKUP += [
    "<style>",
    "<td>",
    "<td>a",
    "<pre>a",
    "<br>",
    "<blockquote>",
    "<title>",
    "&",
    "&#",
    "&lt",
]
_MARKUP += [
    "<ul><li>",
    "<v ",
    "<v.a",
    "<v a>b",
    "{\\",
    "{{",
    "<svg>",
    "<div hidden>",
    "a<",
    "<a>b ",
]
_MAIL = [
    "From: ",
    "Re: ",
    "On Mon wrote:\n",
    "wrote:\n",
    "Sent from ",
    "From: a\n",
    "> a\n",
    "; a=b",
]
_MAIL += [
    "=20",
    "=\n",
    "=3D",
    "=?utf-8?q?a?= ",
    "=?",
    "?=",
    "On 1/1/26 ",
    "a \n",
    "--a\n",
    "a*0=b;",
]
_MAIL += [
    "Best,\n",
    "Thanks\n",
    "-- \nAna\n",
    "*From:*",
    "-----\n",
    "a=b; ",
    'a="',
    "(a",
    "(a) ",
    "<a",
]
_MAIL += ["Begin forwarded message:\nFrom: a@b.c\nSent: x\nSubject: y\n\n", "unsubscribe\n"]
_RECORDS = ["[1/2/26, 10:00] a: b\n", "1/2/26, 10:00 - a: b\n", "00:00:01 --> 00:00:02\na\n\n"]
_RECORDS += ["WEBVTT\n", "a: ", "A: b\n", "- [ ] ", "1) ", "| a |\n", "key: value\n", "x = ", "x="]
_RECORDS += ["# a\n", "###### a\n", "a\n===\n", "A: um, um\n", '{"', '{"a":', "[[", "Ana 10:00\n"]
_RECORDS += ["\u200e<attached: ", "~ ", "1/2/26, 10:00 - ", "10:00 Ana: b\n", "Ana (10:00): b\n"]
_PROMPTS = [
    "ignore previous ",
    "system: ",
    "</s>",
    "<|im_start|>",
    "instructions ",
    "base64,",
    "AAAA",
]
_PROMPTS += [
    "data:",
    "%20",
    "\\n",
    "${",
    "$(",
    "=>",
    "def ",
    "f(",
    "[Memory] ",
    "# Memory Context\n",
]

FEW = tuple(
    dict.fromkeys(
        [*_PUNCTUATION[:34], *_SPACE[:11], "a", "1", "א", "Dan ", "Dan, ", "key: value\n", "-- \n"]
        + ["<a ", "<![ ", "<!--", "</", "<div ", "? ", "a@", "my ", "um, ", "a \n", "=?", "ge"]
    )
)
UNITS = tuple(
    dict.fromkeys(
        [*_PUNCTUATION, *_SPACE, *_LETTERS, *_DATES, *_ADDRESSES, *_WORDS, *_MARKUP, *_MAIL]
        + [*_RECORDS, *_PROMPTS]
    )
)
PAIRS = tuple(
    one + other
    for one, other in itertools.permutations(
        [
            "?",
            " ",
            "\n",
            "\t",
            ".",
            ",",
            "-",
            ":",
            ";",
            "a",
            "A",
            "1",
            "(",
            "[",
            "<",
            '"',
            "'",
            "א",
            "_",
        ]
        + ["@", ">", "=", "/", "*", "\u00a0"],
        2,
    )
)


def text_of(unit: str, length: int) -> str:
    """A text that begins and ends with a letter, so that nothing is trimmed."""
    return "x" + (unit * (length // len(unit) + 1))[: length - 2] + "y"


Feed = Callable[[User, str], object]


@dataclass(frozen=True)
class Door:
    """A way in for a text; ``size``: the length that takes some hundredths of a second."""

    feed: Feed
    size: int


_HEADERS = "From: a@b.c\nTo: d@e.f\nSubject: x\nDate: Mon, 2 Feb 2026 10:00:00 +0000\n"
_CLOCK = "2026-02-02T10:00:00Z"


def _mail(type: str) -> Feed:
    return lambda me, text: me.ingest(
        f"{_HEADERS}Content-Type: {type}\n\n{text}".encode(), format="email"
    )


def _header(me: User, text: str) -> object:
    line = " ".join(text.splitlines())
    names = ("From", "To", "Cc", "Subject", "Date", "Message-ID", "References", "Content-Type")
    headers = "".join(f"{name}: {'text/plain; ' * (name[-1] == 'e')}{line}\n" for name in names)
    return me.ingest(f"{headers}\nhello there".encode(), format="email")


def _multipart(me: User, text: str) -> object:
    line = " ".join(text.splitlines())
    part = f"--cut\nContent-Type: text/plain; {line}\nContent-Disposition: inline; {line}\n\n{text}"
    return me.ingest(
        f"{_HEADERS}Content-Type: multipart/mixed; boundary=cut\n\n{part}\n--cut--\n".encode(),
        format="email",
    )


def _in_format(format: str, template: str = "{}") -> Feed:
    before, after = template.split("{}")
    return lambda me, text: me.ingest(before + text + after, format=format)


def _conversation(me: User, text: str) -> object:
    turns = [{"speaker": "Ana", "text": text, "time": _CLOCK}, {"speaker": "Tal", "text": "Yes."}]
    return me.ingest("\n".join(map(json.dumps, turns)), format="conversation")


def _slack(me: User, text: str) -> object:
    message = {"user": "U1", "text": text, "ts": "1700000000.000100"}
    return me.ingest(json.dumps([message]), format="slack")


def _update(me: User, text: str) -> object:
    first = me.remember("The office is in Haifa.", kind="fact")
    return me.update(first.id, content=text)


def _extract(me: User, text: str) -> object:
    me.ingest(text, format="text")
    return me.extract()


def _extract_mail(me: User, text: str) -> object:
    me.ingest(f"{_HEADERS}Content-Type: text/plain\n\n{text}".encode(), format="email")
    return me.extract()


def _second(me: User, text: str) -> object:
    """A second memory is compared with the first."""
    me.remember(text, kind="fact")
    return me.remember(text[:-1] + "z", kind="fact")


DOORS: dict[str, Door] = {
    "remember": Door(lambda me, text: me.remember(text), 8_000),
    "remember fact": Door(lambda me, text: me.remember(text, kind="fact"), 8_000),
    "remember event": Door(lambda me, text: me.remember(text, kind="event"), 8_000),
    "remember twice": Door(_second, 8_000),
    "update": Door(_update, 8_000),
    "observe": Door(lambda me, text: me.observe(text, thread="t"), 8_000),
    "recall": Door(lambda me, text: me.recall(text), 8_000),
    "query": Door(lambda me, text: me.query(text), 8_000),
    "context": Door(lambda me, text: me.context(text), 8_000),
    "understand": Door(lambda me, text: me.understand(text), 8_000),
    "explore": Door(lambda me, text: me.explore(text_matches=[text], granularity=3), 8_000),
    "text": Door(_in_format("text"), 16_000),
    "detected": Door(lambda me, text: me.ingest(text), 10_000),
    "markdown": Door(_in_format("markdown", "# Title\n\n{}"), 16_000),
    "html": Door(_in_format("html", "<html><body>{}"), 16_000),
    "whatsapp": Door(
        _in_format("whatsapp", "[1/2/26, 10:00] Ana: {}\n[1/2/26, 10:01] T: b"), 16_000
    ),
    "whatsapp line": Door(
        _in_format("whatsapp", "[1/2/26, 10:00] Ana: b\n[1/2/26, 10:01]{}"), 16_000
    ),
    "transcript": Door(_in_format("transcript", "Ana: {}\nTal: yes"), 16_000),
    "vtt": Door(
        _in_format("transcript", "WEBVTT\n\n00:00:01.000 --> 00:00:02.000\n<v Ana>{}"), 16_000
    ),
    "conversation": Door(_conversation, 16_000),
    "slack": Door(_slack, 16_000),
    "mail": Door(_mail("text/plain"), 16_000),
    "flowed mail": Door(_mail("text/plain; format=flowed"), 16_000),
    "html mail": Door(_mail("text/html"), 16_000),
    "mail header": Door(_header, 8_000),
    "multipart mail": Door(_multipart, 8_000),
    "extract": Door(_extract, 8_000),
    "extract mail": Door(_extract_mail, 8_000),
}


class TookTooLong(BaseException):
    """Not an Exception: nothing in the product may catch it."""


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """The signal also ends a pattern that runs away."""

    def stop(number: int, frame: FrameType | None) -> None:
        raise TookTooLong

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@dataclass(frozen=True)
class Slow:
    door: str
    unit: str
    seconds: tuple[float, float]  # for one length, and for twice the length

    def __str__(self) -> str:
        short, long = self.seconds
        return f"{self.door}: {self.unit!r} takes {short:.3f} s, then {long:.3f} s for twice"


class Stopwatch:
    """Measures doors of one store; each text goes to a user of its own."""

    def __init__(self, book: Commonplace):
        self._book = book
        self._users = itertools.count()
        for door in DOORS.values():  # load tables and caches
            self._seconds(door.feed, "I live in Haifa, my sister Noa works at Intel.")

    def slow_units(self, door: str, units: tuple[str, ...], share: float = 1.0) -> list[Slow]:
        return [slow for unit in units if (slow := self.growth(door, unit, share))]

    def growth(self, door: str, unit: str, share: float = 1.0) -> Slow | None:
        """None if the time is linear. A suspicion is measured again."""
        feed, size = DOORS[door].feed, int(DOORS[door].size * share)
        once, twice = text_of(unit, size), text_of(unit, 2 * size)
        short, long = TIME_LIMIT, TIME_LIMIT
        for _ in range(REPEATS):
            long = min(long, self._seconds(feed, twice))
            if long < FLOOR:
                return None
            short = min(short, self._seconds(feed, once))
            if long < MAX_GROWTH * short and long < TIME_LIMIT:
                return None
            if long >= TIME_LIMIT:
                break
        return Slow(door, unit, (short, long))

    def _seconds(self, feed: Feed, text: str) -> float:
        user = self._book.user(f"user {next(self._users)}")
        began = time.thread_time()
        try:
            with time_limit(TIME_LIMIT):
                feed(user, text)
        except CommonplaceError:  # refused: that must be fast, too
            pass
        except TookTooLong:
            return TIME_LIMIT
        return time.thread_time() - began
