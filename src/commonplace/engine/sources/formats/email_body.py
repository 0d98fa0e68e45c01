"""E-mail bodies without quoted text, signatures and list footers.

Quoted text has three shapes: lines that begin with ">", the attribution above them ("On Monday Ana
wrote:"), and an old mail pasted below with its header ("From: … Sent: … Subject: …"), which has no
markers and so extends to the end. A forwarded mail is not a quotation: it is the mail's content.
"""

from __future__ import annotations

import re

# Attributions of mail programs: the beginning and the end of the sentence.
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
_ATTRIBUTION_START = re.compile(
    "|".join(f"(?:{start})" for start, _ in _ATTRIBUTIONS) + r"|\d", re.I
)
_ATTRIBUTION = re.compile(
    "|".join(rf"(?:{start})\b.*\b{end}" for start, end in _ATTRIBUTIONS), re.I | re.S
)
# Directly above quoted lines a date and a colon suffice: '26.06.2014, 14:41, "Ana" <ana@x.org>:'.
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
ORIGINAL_MARK = re.compile(
    r"\s*[-_*]{2,}\s*(?:original message|original appointment|ursprüngliche nachricht|"
    r"message d'origine|mensaje original|messaggio originale|mensagem original|"
    r"oorspronkelijk bericht|reply message|исходное сообщение|пересылаемое сообщение|"
    r"הודעה מקורית)\s*[-_*]{2,}\s*",
    re.I,
)
FORWARDED_MARK = re.compile(
    r"[>\s]*(?:[-_*]{2,}\s*(?:forwarded (?:message|by).*|weitergeleitete nachricht|"
    r"message transféré|mensaje reenviado|messaggio inoltrato|הודעה שהועברה|הודעה מועברת)"
    r"\s*[-_*]*|begin forwarded message:|תחילת הודעה מועברת:)\s*",
    re.I,
)
_RULER = re.compile(r"\s*[-_*]{5,}\s*")
_QUOTE_SIGN = re.compile(r"\s*>")
_QUOTE_SIGNS = re.compile(r"(?:\s{0,3}> ?)+")
_DIRECTION_MARKS = re.compile("[\u200e\u200f\u202a-\u202e\u2066-\u2069]")

_ATTRIBUTION_LINES = 4
_ATTRIBUTION_LENGTH = 400
_MAX_BLANK_LINES = 20  # between an attribution and its quotation


def cut_quotes(text: str, forwards: bool = False) -> str:
    """The text without quotations; if nothing else remains, the unquoted whole.

    `forwards`: the subject marks the mail as forwarded.
    """
    lines = [_DIRECTION_MARKS.sub("", line) for line in text.split("\n")]
    start = _forward_start(lines)
    own, passed_on = lines[:start], [_QUOTE_SIGNS.sub("", line, count=1) for line in lines[start:]]
    if not (forwards and start == len(lines)):
        own = own[: _pasted_start(own)]
    remaining = _without_quoted(own)
    whole = "\n".join([*remaining, *passed_on]).strip()
    return whole or "\n".join(_QUOTE_SIGNS.sub("", line, count=1) for line in lines).strip()


def _forward_start(lines: list[str]) -> int:
    """The first line of a forwarded mail; the end if there is none."""
    for number, line in enumerate(lines):
        if FORWARDED_MARK.fullmatch(line):
            return number
        if ORIGINAL_MARK.fullmatch(line):
            break
    return len(lines)


def _pasted_start(lines: list[str]) -> int:
    """The first line of an old mail pasted without markers; the end if there is none."""
    for number, line in enumerate(lines):
        if ORIGINAL_MARK.fullmatch(line) or is_header(lines, number):
            while number and (not lines[number - 1].strip() or _RULER.fullmatch(lines[number - 1])):
                number -= 1
            return number
    return len(lines)


def is_header(lines: list[str], number: int) -> bool:
    """At least three header lines of an old mail in any order, one of them From."""
    if not any(rule.fullmatch(lines[number]) for rule in HEADER_LINE.values()):
        return False
    if _QUOTE_SIGN.match(lines[number]):
        return False
    block = lines[number : number + 8]
    ends = next((n for n, line in enumerate(block) if not line.strip()), len(block))
    found = {
        what for line in block[:ends] for what, rule in HEADER_LINE.items() if rule.fullmatch(line)
    }
    return "from" in found and len(found) >= 3


def _without_quoted(lines: list[str]) -> list[str]:
    remaining: list[str] = []
    number = 0
    while number < len(lines):
        if _QUOTE_SIGN.match(lines[number]):
            if number and not _QUOTE_SIGN.match(lines[number - 1]):
                _drop_attribution(remaining)
            number += 1
            continue
        length = _attribution_at(lines, number)
        if length:
            after = number + length
            if not _quote_follows(lines, after):
                return remaining  # a mail pasted without markers: its end is unknown
            number = after
            continue
        remaining.append(lines[number])
        number += 1
    return remaining


def _attribution_at(lines: list[str], number: int) -> int:
    """The number of lines of an attribution that begins here; 0 if there is none."""
    first = lines[number].strip()
    if not first or not _ATTRIBUTION_START.match(first):
        return 0
    sentence = ""
    for length, line in enumerate(lines[number : number + _ATTRIBUTION_LINES], 1):
        if not line.strip() or _QUOTE_SIGN.match(line):
            return 0
        if len(sentence) + len(line) > _ATTRIBUTION_LENGTH:
            return 0
        if length > 1 and _ATTRIBUTION.fullmatch(line.strip()):
            return 0  # that line is the attribution; this one is text
        sentence = f"{sentence} {line.strip()}".strip()
        if _ATTRIBUTION.fullmatch(sentence) and any(c.isdigit() for c in sentence):
            return length
    return 0


def _quote_follows(lines: list[str], number: int) -> bool:
    places = range(number, len(lines))
    following = next((lines[place] for place in places if lines[place].strip()), "")
    return _QUOTE_SIGN.match(following) is not None


def _drop_attribution(remaining: list[str]) -> None:
    """Drop the sentence above a quotation if a date and a colon mark it as an attribution."""
    end = len(remaining)
    least = end - _MAX_BLANK_LINES
    while end > max(least, 0) and not remaining[end - 1].strip():
        end -= 1
    for length in range(1, min(_ATTRIBUTION_LINES, end) + 1):
        sentence = " ".join(line.strip() for line in remaining[end - length : end])
        if not remaining[end - length].strip() or len(sentence) > _ATTRIBUTION_LENGTH:
            return
        begins = length == 1 or _ATTRIBUTION_START.match(sentence)
        has_date = sentence.endswith(":") and _TIME_OR_DATE.search(sentence)
        if begins and (has_date or _SOMEBODY_WROTE.fullmatch(sentence)):
            del remaining[end - length :]
            return


_DELIMITER = re.compile(r"--[ \xa0]?|—|\*--\*")
_LONGEST_SIGNATURE = 12  # lines; a longer block after "--" is text

_SENT_FROM = re.compile(
    r"(?:sent|written|typed) (?:from|with|via|using|on) (?:my |the |a |yahoo |outlook|gmail|mail |"
    r"samsung|proton|sparrow|iphone|ipad|android)[^.!?,]{0,60}[.!]?(?: \(?https?://\S+\)?)?"
    r"|get outlook for \w+.{0,60}"
    r"|(?:von meinem|envoyé de mon|envoyé depuis mon|enviado desde mi|inviato da|enviado do meu|"
    r"verzonden vanaf mijn|verstuurd vanaf mijn|skickat från min|отправлено с|отправлено из)"
    r"\b.{0,60}"
    r"|נשלח מ(?:ה|תוך|-)?\s?.{0,60}"
    r"|this (?:e-?mail|message) was sent from .{0,60}",
    re.I,
)

# Formal closings end a mail; thanks are content, unless an address or a number follows.
_FAREWELL = re.compile(
    r"(?:(?:many )?thanks(?: and|,| &) )?"
    r"(?:(?:with )?(?:my |our )?(?:best|kind|kindest|warm|warmest|many)? ?(?:regards|wishes)|"
    r"all the best|sincerely(?: yours)?|yours (?:sincerely|faithfully|truly)|"
    r"respectfully|cordially|best|warmly|cheers|"
    r"mit (?:freundlichen|besten|herzlichen) grüßen|viele grüße|liebe grüße|"
    r"cordialement|bien à vous|saludos(?: cordiales)?|un saludo|atenciosamente|cordiali saluti|"
    r"met vriendelijke groet(?:en)?|с уважением|"
    r"בברכה(?: רבה)?|בכבוד רב|בתודה(?: רבה| מראש)?|כל טוב|בידידות)"
    r"\s?[,.!]?",
    re.I,
)
_THANKS = re.compile(
    r"(?:many )?(?:thanks|thank you|thx|תודה(?: רבה)?)(?: .{0,30})?\s?[,.!]?", re.I
)
_CONTACT = re.compile(
    r"\S+@\S+\.\w|https?://|www\.|\+?\(?\d[\d\s().-]{6,}\d|\s\|\s|linkedin|"
    r"^(?:tel|phone|mobile|cell|fax|טל|נייד)\b",
    re.I,
)
_DISCLAIMER = re.compile(
    r"[*_\s]*(?:confidentiality notice|disclaimer|legal notice)\b.*|"
    r"[*_\s]*th(?:is|e information in this) (?:e-?mail|message|communication)\b.*"
    r"\b(?:confidential|privileged|intended (?:only|solely))\b.*|"
    r".*(?:הודעה זו|דואר אלקטרוני זה).*(?:חסוי|סודי|מיועד).*",
    re.I | re.S,
)
_NAME_AFTER_DASH = re.compile(r"[-–—]{1,2}\s?[^\W\d_]\w*(?:[ .'-]+[^\W\d_][\w.]*){0,3}")
_LIST_FOOTER = re.compile(
    r".*mailing list\b.*|.*\bunsubscribe\b.*|you received this message because .*|"
    r"reply to this email directly.*|to view this discussion .*|.*/mailman/listinfo/.*",
    re.I,
)
_FOOTER_RULER = re.compile(r"\s*[-_=*]{5,}\s*")
_BLOCK_LINES = 8
_LINE_LENGTH = 90
_NAME_LENGTH = 40
_DISCLAIMER_LENGTH = 4000
_MAX_BLOCKS = 5  # at the end of one mail; what repeats more often is text


def cut_signature(text: str, name: str | None = None) -> str:
    """The text without its signature; all of it if nothing else would remain.

    `name`: the sender's, which may begin a signature without any other marker.
    """
    lines = text.rstrip().split("\n")
    for _ in range(_MAX_BLOCKS):  # signature, footer and disclaimer may follow each other
        before = len(lines)
        for rule in _RULES:
            _end_at(lines, rule(lines))
        if name:
            _end_at(lines, _named_signature(lines, name))
        if len(lines) == before:
            break
    return "\n".join(lines).strip() or text.strip()


def _end_at(lines: list[str], end: int) -> None:
    """Shorten the list in place, and leave no empty lines at its end."""
    while end and not lines[end - 1].strip():
        end -= 1
    del lines[end:]


# Each rule returns the line at which the text ends.


def _footer(lines: list[str]) -> int:
    """A mailing list's footer, below a line of dashes."""
    for number in range(len(lines) - 1, max(-1, len(lines) - _BLOCK_LINES - 1), -1):
        if _FOOTER_RULER.fullmatch(lines[number]):
            below = lines[number + 1 :]
            return number if any(_LIST_FOOTER.fullmatch(line) for line in below) else len(lines)
    return len(lines)


def _delimited(lines: list[str]) -> int:
    for number in range(max(0, len(lines) - _LONGEST_SIGNATURE - 1), len(lines)):
        if _DELIMITER.fullmatch(lines[number]):
            return number
    return len(lines)


def _sent_from(lines: list[str]) -> int:
    last = lines[-1].strip() if lines else ""
    return len(lines) - 1 if _SENT_FROM.fullmatch(last) else len(lines)


def _farewell(lines: list[str]) -> int:
    """ "Best regards," and the few short lines below it."""
    for number in range(max(0, len(lines) - _BLOCK_LINES), len(lines)):
        line, below = lines[number].strip(), [one for one in lines[number + 1 :] if one.strip()]
        if any(len(one) > _LINE_LENGTH for one in below):
            continue
        with_contact = any(_CONTACT.search(one) for one in below)
        if _FAREWELL.fullmatch(line) and (with_contact or _are_names(below)):
            return number
        if _THANKS.fullmatch(line) and with_contact:
            return number
    return len(lines)


def _are_names(lines: list[str]) -> bool:
    """A name, perhaps with a job title below: short lines that do not end a sentence."""
    return len(lines) <= 3 and all(
        len(line.strip()) <= _NAME_LENGTH and line.strip()[-1] not in ".?!:" for line in lines
    )


def _dashed_name(lines: list[str]) -> int:
    """ "-Ana" in the last line, separated from the text; two such lines would be a list."""
    if len(lines) < 2 or lines[-2].strip():
        return len(lines)
    return len(lines) - 1 if _NAME_AFTER_DASH.fullmatch(lines[-1].strip()) else len(lines)


def _disclaimer(lines: list[str]) -> int:
    """A legal disclaimer as the last paragraph."""
    start = _last_paragraph(lines)
    is_short = sum(map(len, lines[start:])) <= _DISCLAIMER_LENGTH
    return start if is_short and _DISCLAIMER.fullmatch("\n".join(lines[start:])) else len(lines)


def _named_signature(lines: list[str], name: str) -> int:
    """A last paragraph that begins with the sender's name and contains contact details."""
    start = _last_paragraph(lines)
    block = lines[start:]
    if not block or block[0].strip(" *,").casefold() != name.casefold():
        return len(lines)
    is_short = len(block) <= _BLOCK_LINES and all(len(line) <= _LINE_LENGTH for line in block)
    return start if is_short and any(_CONTACT.search(line) for line in block) else len(lines)


def _last_paragraph(lines: list[str]) -> int:
    start = len(lines)
    while start and lines[start - 1].strip():
        start -= 1
    return start


_RULES = (_disclaimer, _footer, _delimited, _sent_from, _farewell, _dashed_name)
