"""Kind of a text that nobody gave a kind; "remember that" triggers are stripped.

A changed kv or contact asks the user for confirmation, so that a false positive costs more than a
miss.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from commonplace.language.fields.contacts import parse_contact
from commonplace.language.fields.key_values import parse_key_value
from commonplace.language.fields.sentence_kind import sentence_kind
from commonplace.language.text.sentences import split_sentences
from commonplace.model.memory.kinds import DEFAULT_KIND, Kind


@dataclass(frozen=True, slots=True)
class TriggerFreeText:
    """A text without its trigger ("remember that …").

    `content` is stored: only unambiguous triggers are removed. `field_text` is parsed for fields: a
    bare "save …" or "add …" is removed, too.
    """

    content: str
    field_text: str


# ——— English ———

_POLITE_EN = (
    r"(?:(?:please|hey|hi|hello|ok|okay|oh|so|also|and|just|btw|by the way|fyi|for the record|"
    r"for your information|just so you know|important|quick note|note to self|heads up|reminder|"
    r"memo)\b[,:!.–-]* +)*"
)
_REQUEST_EN = (
    r"(?:(?:can|could|would|will) you (?:please )?|(?:i (?:want|need)|i'?d like) you to |"
    r"(?:you should|you need to|we should|i (?:want|need|have) to|let'?s|try to) )?"
)
_VERB_EN = (
    r"(?:remember|memori[sz]e|note(?: down)?|make a note|take (?:a )?note|write(?: this| it)? down|"
    r"jot(?: this| it)? down|put(?: this| it)? down|save|store|record|keep(?: this| it)? in mind|"
    r"bear in mind|keep|do(?:n'?t| not) forget|never forget|know|add|log)"
)
_FILLING_EN = r"(?: (?:for me|please|for later|down|too|also|of))*"
# After "that", "this:" or a colon everything is content.
_CERTAIN_EN = (
    rf"{_POLITE_EN}{_REQUEST_EN}{_VERB_EN}{_FILLING_EN}"
    r"(?:,? that(?! (?:time|day|night|one|summer|year)\b)| (?:this|it|the following)[.:,–-]+|"
    r" ?[:–]| -)"
)
# Otherwise the verb may belong to the content ("save money", "add salt"). "Remember to" is a task,
# "remember when" a reminiscence.
_BARE_EN = (
    rf"{_POLITE_EN}{_REQUEST_EN}{_VERB_EN}{_FILLING_EN}"
    r"(?! (?:to|when|how|why|where|who|what|if|me|him|her|us|them)\b)"
)
_ONLY_POLITE_EN = (
    r"(?:please|fyi|btw|by the way|for the record|for your information|just so you know|"
    r"note to self)\b[,:–-]*"
)

# ——— Hebrew ———

_POLITE_HE = (
    r"(?:(?:בבקשה|נא|היי|הי|שלום|אגב|דרך אגב|רק|גם|אוקיי|לידיעתך|חשוב|תזכורת|פתק)[,:!–-]* +)*"
)
_REQUEST_HE = r"(?:(?:אתה |את )?(?:תוכל|תוכלי|יכול|יכולה|אפשר|צריך|צריכה|חשוב|אני רוצה ש\S*) )?"
_VERB_HE = (
    r"(?:תזכור|תזכרי|תזכרו|זכור|זכרי|לזכור|שתזכור|שתזכרי|תרשום|תרשמי|תרשמו|רשום|רשמי|לרשום|שתרשום|"
    r"תכתוב|תכתבי|כתוב|כתבי|לכתוב|תשמור|תשמרי|תשמרו|שמור|שמרי|לשמור|שתשמור|תעדכן|תעדכני|תתעד|"
    r"תוסיף|תוסיפי|הוסף|הוסיפי|להוסיף|אל תשכח|אל תשכחי|לא לשכוח|שתדע|שתדעי|תדע|תדעי|דע|"
    r"קח בחשבון|קחי בחשבון|שים לב|שימי לב|תשים לב|תשימי לב)"
)
_FILLING_HE = r"(?:,? (?:בבקשה|לי|לך|לעצמך|לעצמי|לנו|גם|אצלך|בזיכרון))*"
# Words whose first letter is not the prefix "that".
_NOT_THAT = (
    r"(?!של|שם |שמ[הו]|שמות|שנה|שני|שנת|שבת|שבוע|שעה|שעת|שעות|שיר|שלום|שלוש|שולחן|שמונ|שבע|שש |"
    r"שכר|שכן|שכנ|שרברב|שמש|שטר|שטח|שיע|שיח|שאלה|שרון|שרה|שירה|שיר|שמעון|שאול|שי )"
)
_CERTAIN_HE = (
    rf"{_POLITE_HE}{_REQUEST_HE}{_VERB_HE}{_FILLING_HE}"
    r"(?: (?:את זה|זאת|זה)?[:,–-]+| ?[:–]| -| ש(?= )| כי(?= )"
    rf"| {_NOT_THAT}ש(?=[א-ת]{{2}}|-|\d|[a-z]))"
)
_BARE_HE = rf"{_POLITE_HE}{_REQUEST_HE}{_VERB_HE}{_FILLING_HE}(?: את(?= ))?"
_ONLY_POLITE_HE = r"(?:בבקשה|לידיעתך|אגב|דרך אגב|לתשומת ליבך)[,:–-]*"

_CERTAIN = re.compile(
    rf"(?:{_CERTAIN_EN}|{_CERTAIN_HE}|{_ONLY_POLITE_EN}|{_ONLY_POLITE_HE})\s*", re.IGNORECASE
)
_BARE = re.compile(
    rf"(?:(?:{_BARE_EN}|{_BARE_HE})(?:\s*[:,–-])?\s+|(?:reminder|heads up|memo|תזכורת|פתק)\s*:\s*"
    r"|(?:here's|here is|this is|these are|הנה|זה) +)",
    re.IGNORECASE,
)
_THANKS = re.compile(
    r"[\s,.!–-]+(?:thanks|thank you|please|ok\??|תודה|בבקשה)[.! ]*$", re.IGNORECASE
)
_REQUESTED = re.compile(
    rf"{_POLITE_EN}(?:can|could|would|will) you |{_POLITE_HE}(?:אתה |את )?(?:תוכל|יכול|אפשר)",
    re.IGNORECASE,
)
_APOSTROPHES = str.maketrans("\u2019\u02bc", "''")


def strip_trigger(text: str) -> TriggerFreeText:
    """The content of "remember that …"; other text is unchanged."""
    plain = text.translate(_APOSTROPHES)  # same length, so that offsets stay valid
    start = _trigger_end(_CERTAIN, plain, 0)
    end = len(text)
    # "Can you remember that …?": its question mark is not part of the content.
    if start and _REQUESTED.match(plain):
        end = len(plain.rstrip("? "))
    content = text[start:end].strip() or text
    bare = _trigger_end(_BARE, plain[:end], start)
    return TriggerFreeText(content, _THANKS.sub("", text[bare:end]).strip() or content)


def _trigger_end(trigger: re.Pattern[str], text: str, start: int) -> int:
    """The end of the trigger at `start`; `start` if there is none or nothing follows it."""
    found = trigger.match(text, start)
    return found.end() if found and text[found.end() :].strip() else start


# Longer text is prose and is not parsed.
_CLASSIFIED_CHARACTERS = 400


@dataclass(frozen=True, slots=True)
class Classification:
    kind: Kind
    content: str  # without the trigger
    metadata: Mapping[str, str] = field(default_factory=dict)


def classify(text: str) -> Classification:
    """Kind and content of a text, and the fields of a contact or kv."""
    if len(text) > _CLASSIFIED_CHARACTERS:
        return Classification(DEFAULT_KIND, text)
    stripped = strip_trigger(text)
    if len(split_sentences(stripped.field_text)) != 1:
        return Classification(DEFAULT_KIND, stripped.content)
    for kind, read in _FIELD_READERS.items():
        fields = read(stripped.field_text, False)
        if fields:
            return Classification(kind, stripped.field_text, fields)
    return Classification(sentence_kind(stripped.content), stripped.content)


def _contact_fields(text: str, asked: bool) -> dict[str, str]:
    contact = parse_contact(text, asked)
    return contact.fields() if contact else {}


def _key_value_fields(text: str, asked: bool) -> dict[str, str]:
    pair = parse_key_value(text, asked)
    return {"subject": pair.subject, "value": pair.value} if pair else {}


# Field parsers by kind; the first with a result decides.
_FIELD_READERS: Mapping[Kind, Callable[[str, bool], dict[str, str]]] = {
    Kind.CONTACT: _contact_fields,
    Kind.KV: _key_value_fields,
}


def extract_fields(kind: Kind, text: str) -> dict[str, str]:
    """Fields of a text whose kind the caller gives; empty if they are unclear."""
    read = _FIELD_READERS.get(kind)
    if read is None or len(text) > _CLASSIFIED_CHARACTERS:
        return {}
    content = strip_trigger(text).field_text
    return read(content, True) if len(split_sentences(content)) == 1 else {}
