"""What people say before the thing that is to be remembered: "remember that …", «תזכור ש…»."""

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Asked:
    """A text without the words that ask to remember it.

    `content` is what is kept: only words that certainly ask are left out of it. `said` is what is
    looked at for fields: there a bare "save …" or "add …" is left out too.
    """

    content: str
    said: str


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
# "that", "this:" or a colon: what follows is the content, whatever it is.
_CERTAIN_EN = (
    rf"{_POLITE_EN}{_REQUEST_EN}{_VERB_EN}{_FILLING_EN}"
    r"(?:,? that(?! (?:time|day|night|one|summer|year)\b)| (?:this|it|the following)[.:,–-]+|"
    r" ?[:–]| -)"
)
# Without it the verb may belong to the content ("save money", "add salt"). "Remember to" is a task,
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
# Words whose first letter is not the glued "that".
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


def without_trigger(text: str) -> Asked:
    """The content of "remember that …"; a text that asks for nothing comes back as it is."""
    plain = text.translate(_APOSTROPHES)  # one character for one, so positions hold
    start = _end_of(_CERTAIN, plain, 0)
    end = len(text)
    # "Can you remember that …?" asks the assistant; its mark is not part of the content.
    if start and _REQUESTED.match(plain):
        end = len(plain.rstrip("? "))
    content = text[start:end].strip() or text
    bare = _end_of(_BARE, plain[:end], start)
    return Asked(content, _THANKS.sub("", text[bare:end]).strip() or content)


def _end_of(trigger: re.Pattern[str], text: str, start: int) -> int:
    """Where the trigger at `start` ends; at `start` when there is none or nothing follows it."""
    found = trigger.match(text, start)
    return found.end() if found and text[found.end() :].strip() else start
