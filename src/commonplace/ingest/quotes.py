"""What a mail answers to is cut: it was said in another mail, by somebody else.

Three shapes: lines that begin with ">", the attribution above them ("On Monday Ana wrote:"), and
the old mail pasted below with its header ("From: … Sent: … Subject: …"), which has no signs at all
and so goes on to the end. A forwarded mail is no quotation: it is what the mail is about.
"""

from __future__ import annotations

import re

# How mail programs say that somebody wrote something: the beginning, and the end, of the sentence.
_ATTRIBUTIONS = (
    ("on", r"(?:wrote|writes|said)\s?:"),  # English
    ("am|den|um", r"schrieb\b.*:"),  # German
    ("le", r"(?:a|à) écrit\s?:"),  # French
    ("el", r"escribió\s?:"),  # Spanish
    ("il|in data", r"(?:ha scritto|scrive)\s?:"),  # Italian
    ("em", r"escreveu\s?:"),  # Portuguese
    ("op", r"(?:schreef|het volgende geschreven)\b.*:"),  # Dutch
    ("dnia|w dniu", r"(?:napisał|pisze)\S*\s?:"),  # Polish
    ("den", r"skrev\b.*:"),  # Swedish, Danish, Norwegian
    (r"\d|в ", r"(?:написал|пишет)\S*\s?:"),  # Russian
    (r"ב|ב-|בתאריך|ביום|מאת", r"(?:כתב|כתבה|כתב/ה|כתב\(ה\)|מאת .*)\s?:"),  # Hebrew
)
_BEGINS = re.compile("|".join(f"(?:{start})" for start, _ in _ATTRIBUTIONS) + r"|\d", re.I)
_ATTRIBUTION = re.compile(
    "|".join(rf"(?:{start})\b.*\b{end}" for start, end in _ATTRIBUTIONS), re.I | re.S
)
# Just above quoted lines a date and a colon are enough: '26.06.2014, 14:41, "Ana" <ana@x.org>:'.
_TIME_OR_DATE = re.compile(r"\d{1,2}[:./]\d\d")
_SOMEBODY_WROTE = re.compile(r"(?:\S+ ){1,4}(?:wrote|writes|schrieb|כתב|כתבה|כתב/ה)\s?:", re.I)

_HEADER = {
    "from": "from|von|de|da|van|från|fra|от|מאת|od",
    "when": "sent|date|gesendet|datum|envoyé|enviado(?: el)?|fecha|data|inviato|verzonden|skickat|"
    "отправлено|дата|נשלח|תאריך|בתאריך|wysłano",
    "to": "to|an|à|para|a|aan|till|til|кому|אל|do",
    "subject": "subject|betreff|objet|asunto|assunto|oggetto|onderwerp|ämne|emne|тема|נושא|temat",
    "copy": "cc|bcc|kopie|copie|копия|עותק|reply-to|importance",
}
HEADER_LINE = {
    what: re.compile(rf"[>*_\s]*(?:{names})\s?\*?\s?:.*", re.I) for what, names in _HEADER.items()
}
ORIGINAL = re.compile(
    r"\s*[-_*]{2,}\s*(?:original message|original appointment|ursprüngliche nachricht|"
    r"message d'origine|mensaje original|messaggio originale|mensagem original|"
    r"oorspronkelijk bericht|reply message|исходное сообщение|пересылаемое сообщение|"
    r"הודעה מקורית)\s*[-_*]{2,}\s*",
    re.I,
)
FORWARDED = re.compile(
    r"[>\s]*(?:[-_*]{2,}\s*(?:forwarded (?:message|by).*|weitergeleitete nachricht|"
    r"message transféré|mensaje reenviado|messaggio inoltrato|הודעה שהועברה|הודעה מועברת)"
    r"\s*[-_*]*|begin forwarded message:|תחילת הודעה מועברת:)\s*",
    re.I,
)
_RULER = re.compile(r"\s*[-_*]{5,}\s*")
_SIGN = re.compile(r"\s*>")
_SIGNS = re.compile(r"(?:\s{0,3}> ?)+")
_DIRECTION_MARKS = re.compile("[\u200e\u200f\u202a-\u202e\u2066-\u2069]")

_ATTRIBUTION_LINES = 4
_ATTRIBUTION_LENGTH = 400


def cut_quotes(text: str, forwards: bool = False) -> str:
    """What the writer of a mail wrote; all of it, unquoted, when there is nothing else.

    `forwards`: the subject says that the mail passes another one on.
    """
    lines = [_DIRECTION_MARKS.sub("", line) for line in text.split("\n")]
    start = _forward(lines)
    own, passed_on = lines[:start], [_SIGNS.sub("", line, count=1) for line in lines[start:]]
    if not (forwards and start == len(lines)):
        own = own[: _pasted(own)]
    kept = _without_quoted(own)
    whole = "\n".join([*kept, *passed_on]).strip()
    return whole or "\n".join(_SIGNS.sub("", line, count=1) for line in lines).strip()


def _forward(lines: list[str]) -> int:
    """Where a forwarded mail begins; the end when there is none."""
    for number, line in enumerate(lines):
        if FORWARDED.fullmatch(line):
            return number
        if ORIGINAL.fullmatch(line):
            break
    return len(lines)


def _pasted(lines: list[str]) -> int:
    """Where an old mail is pasted below without signs; the end when there is none."""
    for number, line in enumerate(lines):
        if ORIGINAL.fullmatch(line) or is_header(lines, number):
            while number and (not lines[number - 1].strip() or _RULER.fullmatch(lines[number - 1])):
                number -= 1
            return number
    return len(lines)


def is_header(lines: list[str], number: int) -> bool:
    """At least three header lines of an old mail, one of them From, however they are ordered."""
    if not any(rule.fullmatch(lines[number]) for rule in HEADER_LINE.values()):
        return False
    if _SIGN.match(lines[number]):
        return False
    block = lines[number : number + 8]
    ends = next((n for n, line in enumerate(block) if not line.strip()), len(block))
    found = {
        what for line in block[:ends] for what, rule in HEADER_LINE.items() if rule.fullmatch(line)
    }
    return "from" in found and len(found) >= 3


def _without_quoted(lines: list[str]) -> list[str]:
    kept: list[str] = []
    number = 0
    while number < len(lines):
        if _SIGN.match(lines[number]):
            if number and not _SIGN.match(lines[number - 1]):
                _drop_attribution(kept)
            number += 1
            continue
        length = _attribution_at(lines, number)
        if length:
            after = number + length
            if not _quote_follows(lines, after):
                return kept  # a mail pasted below without signs: no telling where it ends
            number = after
            continue
        kept.append(lines[number])
        number += 1
    return kept


def _attribution_at(lines: list[str], number: int) -> int:
    """How many lines an attribution takes from here; 0 when there is none."""
    first = lines[number].strip()
    if not first or not _BEGINS.match(first):
        return 0
    sentence = ""
    for length, line in enumerate(lines[number : number + _ATTRIBUTION_LINES], 1):
        if not line.strip() or _SIGN.match(line):
            return 0
        if length > 1 and _ATTRIBUTION.fullmatch(line.strip()):
            return 0  # the attribution is that line; this one is the writer's
        sentence = f"{sentence} {line.strip()}".strip()
        if len(sentence) > _ATTRIBUTION_LENGTH:
            return 0
        if _ATTRIBUTION.fullmatch(sentence) and any(c.isdigit() for c in sentence):
            return length
    return 0


def _quote_follows(lines: list[str], number: int) -> bool:
    following = next((line for line in lines[number:] if line.strip()), "")
    return _SIGN.match(following) is not None


def _drop_attribution(kept: list[str]) -> None:
    """The sentence just above a quotation, when a date and a colon tell that it is no text."""
    end = len(kept)
    while end and not kept[end - 1].strip():
        end -= 1
    for length in range(1, min(_ATTRIBUTION_LINES, end) + 1):
        sentence = " ".join(line.strip() for line in kept[end - length : end])
        if not kept[end - length].strip() or len(sentence) > _ATTRIBUTION_LENGTH:
            return
        begins = length == 1 or _BEGINS.match(sentence)
        says_when = sentence.endswith(":") and _TIME_OR_DATE.search(sentence)
        if begins and (says_when or _SOMEBODY_WROTE.fullmatch(sentence)):
            del kept[end - length :]
            return
