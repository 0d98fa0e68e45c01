"""Signatures, "Sent from my phone" and the footers of mailing lists are cut from a mail's end."""

from __future__ import annotations

import re

_DELIMITER = re.compile(r"--[ \xa0]?|—|\*--\*")
_LONGEST_SIGNATURE = 12  # lines; what is longer after "--" is text

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

# Formal farewells end a mail; thanks are content, unless an address or a number follows.
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
_RULER = re.compile(r"\s*[-_=*]{5,}\s*")
_BLOCK_LINES = 8
_LINE_LENGTH = 90
_NAME_LENGTH = 40


def cut_signature(text: str, name: str | None = None) -> str:
    """The text without what closes it; all of it when nothing else would be left.

    `name`: the sender's, which may stand above a signature without any other sign.
    """
    lines = text.rstrip().split("\n")
    before = -1
    while before != len(lines):  # one thing may stand below another
        before = len(lines)
        for rule in _RULES:
            lines = _trimmed(lines[: rule(lines)])
        lines = _trimmed(lines[: _named(lines, name)]) if name else lines
    return "\n".join(lines).strip() or text.strip()


def _trimmed(lines: list[str]) -> list[str]:
    end = len(lines)
    while end and not lines[end - 1].strip():
        end -= 1
    return lines[:end]


# Each rule says where the text ends.


def _footer(lines: list[str]) -> int:
    """What a mailing list adds, below a ruler of its own."""
    for number in range(len(lines) - 1, max(-1, len(lines) - _BLOCK_LINES - 1), -1):
        if _RULER.fullmatch(lines[number]):
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
    """A name, perhaps with what its bearer is below it: short lines that end no sentence."""
    return len(lines) <= 3 and all(
        len(line.strip()) <= _NAME_LENGTH and line.strip()[-1] not in ".?!:" for line in lines
    )


def _dashed_name(lines: list[str]) -> int:
    """ "-Ana" in the last line, apart from the text: two dashes in a row would be a list."""
    if len(lines) < 2 or lines[-2].strip():
        return len(lines)
    return len(lines) - 1 if _NAME_AFTER_DASH.fullmatch(lines[-1].strip()) else len(lines)


def _disclaimer(lines: list[str]) -> int:
    """A last paragraph in which lawyers speak."""
    start = _last_paragraph(lines)
    return start if _DISCLAIMER.fullmatch("\n".join(lines[start:])) else len(lines)


def _named(lines: list[str], name: str) -> int:
    """A last paragraph that begins with the sender's own name and says how to reach them."""
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
