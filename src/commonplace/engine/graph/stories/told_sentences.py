"""What summaries tell about one anchor: sentences in the third person that can stand alone. Pure.

The rules' summaries of chats consist of what people said. So a sentence may be in the first person,
a question, an order to somebody or a greeting; only statements that name the anchor are taken.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time

from commonplace.engine.llm.texts import DatedSummary
from commonplace.language.extract.sentences import expand_casual_spelling
from commonplace.language.fields.sentence_kind import sentence_kind
from commonplace.language.fields.writing_policy import check_writing, speaks_of_itself
from commonplace.language.observe import english, hebrew
from commonplace.language.observe.own_words import remove_opt_outs
from commonplace.language.observe.sentence import USER
from commonplace.language.safety.plain_line import plain_line
from commonplace.language.safety.prompt_injection import is_suspicious
from commonplace.language.safety.secrets import find_secrets
from commonplace.language.text.detect import Script, detect_script
from commonplace.language.text.relative_dates import resolve_relative_dates
from commonplace.language.text.sentences import is_past, split_sentences
from commonplace.language.text.terms import analyse
from commonplace.language.text.typed_values import find_typed_values
from commonplace.model.memory.kinds import Kind

MAX_SENTENCE = 220  # characters
MAX_SUMMARY = 4_000  # what is read of one
MIN_TERMS = 2
_SAME = 0.7  # share of all terms: two sentences say the same
_STATEMENTS = (Kind.FACT, Kind.EVENT)
_FORBIDDEN = frozenset(("question", "context", "neutral"))

_SPEAKER = re.compile(r"(?P<speaker>[^\W\d_][\w.'’״\"-]*(?: [\w.'’״\"-]+){0,3}): +(?=\S)")
# Before a colon, but nobody: what follows is said by those who spoke before.
_HEADING = re.compile(
    r"notes?|nb|updates?|news|reminders?|todo|summary|topic|subject|re|fwd?|ps|question|answer|[qa]"
    r"|info|important|warning|ideas?|agenda|decisions?|date|title|הער(?:ה|ות)|עדכו(?:ן|נים)|תזכורת"
    r"|סיכום|נושא|שאלה|תשובה|נ\"ב|חשוב|רעיון|החלט(?:ה|ות)",
    re.IGNORECASE,
)
_OWNER = re.compile(r"user|owner|me|משתמשת?", re.IGNORECASE)
_ASSISTANT = re.compile(
    r"system|assistant|ai|(?:chat)?bot|agent|tool|developer|model|(?:chat)?gpt|claude|gemini|copilot"
    r"|מערכת|עוזרת?|בוט",
    re.IGNORECASE,
)
_REQUEST = re.compile(
    r"^(?:(?:please|pls|just|also|ok|so) +)*"
    r"(?:(?:remind|tell|ask|show|give|help|bug|call|let|send|write|make|find|warn|nag) (?:me|us)\b"
    r"|(?:do not|don'?t|dont|never|stop|please|pls|remember|forget|delete|remove|note that)\b)"
    r"|\b(?:can|could|would|will) (?:you|u)\b|\b(?:can|may|could) (?:i|we) (?:ask|tell)\b"
    r"|\b(?:so|and|or|then|to|please) (?:remind|bug|nag|warn) me\b|\boff[- ]the[- ]record\b"
    r"|(?<![א-ת])(?:ת(?:זכיר|גיד|כתוב|ענה|שמור|רשום|מחק|עזור|מצא)י?|תעני|תשמרי|תמחקי|תרשמי|תזכור|"
    r"תזכרי)(?![א-ת])|(?<![א-ת])(?:אתה יכול|את יכולה|אפשר ש)",
    re.IGNORECASE,
)
_OPENER = re.compile(
    r"^(?:(?:and|so+|but|then|also|well|ok|okay|yes|yeah|ya|no|oh|hey|btw|tho|though|"
    r"(?:good|bad) news|news|update|"
    r"i have (?:some |good |bad )?news)\b[,.!:]* +|(?:אז|וגם|אבל|כן|טוב|אוקיי|עדכון)[,.!:]* +)+",
    re.IGNORECASE,
)
_WITHOUT_CAPITALS = re.compile(r"(?<=[^\W\d_]{3}[.!?])\s+(?=[^\W\d_])")
_TAIL = re.compile(r"[.,!] +(?:ok|okay|lol|haha|right|thanks|bye)\W*$", re.IGNORECASE)
_CASUAL_FIRST_PERSON = re.compile(
    r"\b(?:i|im|ive|ima|u|ur|my|me|we|our|us|you|your|idk|lets)\b", re.IGNORECASE
)
_CONTRACTED = tuple(
    (re.compile(rf"\b({subject})['’]{short}\b", re.IGNORECASE), rf"\1 {long}")
    for subject, short, long in (
        ("I", "m", "am"),
        ("we", "re", "are"),
        ("I|we", "ve", "have"),
        ("I|we", "ll", "will"),
        ("I|we", "d", "would"),
    )
)
# Clauses without marks between them, or a date that was put into the middle of another one.
_CARELESS = re.compile(
    r"\b(?:n|ill be|ha|lol|u|ur|pls|idk|btw|b4|tmrw|gonna|(?:he|she|that|there|here|who)s|dont|"
    r"cant|isnt|wasnt|didnt|doesnt|wont)\b|(?-i:\bw\b)|\d{4} \d|(?-i:\w{3}[.!?] +[a-z])|חחח",
    re.IGNORECASE,
)
_REORDERS = re.compile("[\u202a-\u202e\u2066-\u2069]")
_COUNTRY = re.compile(r"\bUS\b")
_DANGLING = re.compile(
    r"(?:if|he|she|it|they|his|her|their|its|this|that|these|those|there|here)\b"
    r"|(?:הוא|היא|הם|הן|זה|זאת|זו|שם)(?![א-ת])",
    re.IGNORECASE,
)
_DECISION = re.compile(
    r"\b(?:decid|agree[ds]|accept|reject|declin|cancel|postpon|mov(?:ed|es)|sign(?:ed|s)|book(?:ed|s)"
    r"|buys|bought|sold|chose|approv|confirm|resign|quit|left|join|start(?:ed|s)|finish|launch|offer"
    r"|propos|broke|married|engaged|born|died|fired|hired|won|lost|paid|chang|switch|begins|began)"
    r"|(?<![א-ת])[ושה]?(?:החלי|הסכי|חתמ|בוטל|ביטל|נדח|דחה|דחתה|עבר|קנ[הת]|מכר|בחר|אישר|התפטר|עזב"
    r"|הצטר|התחיל|סיי|השיק|הצי|שיל|שינ|זכ[הת]|הפסיד|נולד|התארס|התחתנ|קיבל|נקבע)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class ToldSentence:
    """``day``: when it was said."""

    day: date
    text: str

    @property
    def weight(self) -> int:
        """How much has happened in it: a decision, a date or an amount, what is over."""
        decides = bool(_DECISION.search(self.text))
        return 2 * decides + bool(find_typed_values(self.text)) + is_past(self.text)


def told_sentences(
    names: Sequence[str], summaries: Iterable[DatedSummary]
) -> tuple[ToldSentence, ...]:
    """In the order of time, none twice. ``names``: of the anchor."""
    told: list[ToldSentence] = []
    for summary in sorted(summaries, key=lambda each: each.start):
        if is_suspicious(summary.text[:MAX_SUMMARY]):
            continue
        for text in _statements(names, summary):
            if not any(_say_the_same(text, other.text) for other in told):
                told.append(ToldSentence(summary.start, text))
    return tuple(told)


def _statements(names: Sequence[str], summary: DatedSummary) -> Iterator[str]:
    speaker: str | None = ""
    for sentence in _sentences(remove_opt_outs(summary.text[:MAX_SUMMARY]).text):
        speaker, said = _spoken(sentence, speaker)
        if speaker is not None and (statement := _statement(names, said, speaker, summary.start)):
            yield statement


def _spoken(sentence: str, before: str | None) -> tuple[str | None, str]:
    """Who says it (empty: the user; None: an assistant), and what."""
    found = _SPEAKER.match(sentence)
    if not found:
        return before, sentence
    speaker, said = found["speaker"], sentence[found.end() :]
    if _HEADING.fullmatch(speaker):
        return before, said
    if _OWNER.fullmatch(speaker):
        return "", said
    if _ASSISTANT.fullmatch(speaker):
        return None, said
    return (speaker, said) if _is_speaker(speaker) else (before, sentence)


def _sentences(text: str) -> Iterator[str]:
    """Also those that were typed without capitals."""
    for sentence in split_sentences(text):
        yield from _WITHOUT_CAPITALS.split(sentence)


def _is_speaker(words: str) -> bool:
    """Names have capitals where there are any; "Back door: …" is a heading."""
    return all(not word[0].islower() for word in words.split())


def _statement(names: Sequence[str], sentence: str, speaker: str, day: date) -> str:
    """The sentence as it is told later; empty if it cannot be."""
    line = safe_line(_TAIL.sub(".", _OPENER.sub("", sentence, count=1)), MAX_SENTENCE)
    if line is None or line.endswith("?") or _REQUEST.search(line):
        return ""
    is_hebrew = detect_script(line) is Script.HEBREW
    told = _as_told_in_hebrew(line) if is_hebrew else _as_told(line, speaker)
    at = datetime.combine(day, time(12))
    told = resolve_relative_dates(told, at, is_hebrew, backwards=is_past(told)).text
    told = english.format_sentence(re.sub(r"!+(?=$|\s)", ".", told)) if told else ""
    if not told or not _is_statement(told) or not _can_stand_alone(told):
        return ""
    if names_one_of(told, names):
        return told
    return _according_to(speaker, told, is_hebrew) if speaker in names else ""


def _is_statement(text: str) -> bool:
    """Also "The offer came: the pay is good", which is no heading with a list."""
    if sentence_kind(text) in _STATEMENTS:
        return True
    parts = text.split(": ")
    return len(parts) == 2 and all(sentence_kind(part) in _STATEMENTS for part in parts)


def safe_line(text: str, most: int) -> str | None:
    """As `plain_line`; also None if it holds a secret, or is shown in another order."""
    line = plain_line(text, most)
    return None if line is None or _REORDERS.search(line) or any(find_secrets(line)) else line


def _as_told(line: str, speaker: str) -> str:
    plain = expand_casual_spelling(line)
    for short, long in _CONTRACTED:
        plain = short.sub(long, plain)
    if not _CASUAL_FIRST_PERSON.search(_COUNTRY.sub("", plain)):
        return line
    return english.to_third_person(plain, speaker or USER) or ""


def _as_told_in_hebrew(line: str) -> str:
    """Only what is in the third person: a verb in the first person does not show the gender that
    the third would need."""
    told = hebrew.to_third_person(line)
    return line if told is not None and told.rstrip(".") == line.rstrip(".") else ""


def _can_stand_alone(text: str) -> bool:
    if _CARELESS.search(text):
        return False
    if len(text) > MAX_SENTENCE or len(set(analyse(text))) < MIN_TERMS:
        return False
    if _DANGLING.match(text) or speaks_of_itself(text) or is_suspicious(text):
        return False
    if len(split_sentences(text)) != 1:
        return False
    return _FORBIDDEN.isdisjoint(remark.code for remark in check_writing(Kind.INSIGHT, text))


def _according_to(speaker: str, statement: str, is_hebrew: bool) -> str:
    if is_hebrew:
        return f"לדברי {speaker}, {statement}"
    article = re.match(r"(?:The|An?|All|Both|Some|Most|No)\b", statement)
    said = statement[0].lower() + statement[1:] if article else statement
    return f"According to {speaker}, {said}"


def names_one_of(text: str, names: Iterable[str]) -> bool:
    return any(_name_pattern(name).search(text) for name in names if name.strip())


def _name_pattern(name: str) -> re.Pattern[str]:
    words = r"\s+".join(re.escape(word) for word in name.split())
    return re.compile(rf"(?<!\w)(?:[ובהלמשכ]{{0,2}}-?)?{words}(?:'?s)?(?!\w)", re.IGNORECASE)


def _say_the_same(one: str, other: str) -> bool:
    a, b = set(analyse(one)), set(analyse(other))
    is_part = a <= b or b <= a
    return (is_part or len(a & b) >= _SAME * len(a | b)) and _values(one) == _values(other)


def _values(text: str) -> set[str]:
    return {each.value for each in find_typed_values(text)}
