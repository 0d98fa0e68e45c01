"""Hebrew clauses, and first-person statements rewritten in the third person.

In the Hebrew present tense verbs have gender and number but no person: only the subject changes,
and its gender is the verb's («אני גרה» has a female speaker). In the past tense the verb has the
person but, in the first person, no gender: then «המשתמש» is used.
"""

from __future__ import annotations

import re

from commonplace.language.fields.writing_policy import check_writing
from commonplace.language.text.lexicon import fill_word_lists, load_patterns
from commonplace.model.memory.kinds import Kind

HEBREW_USER, HEBREW_USER_FEMALE = "המשתמש", "המשתמשת"
_VERBS = load_patterns("observe/hebrew_verbs")
_WORDS = load_patterns("observe/hebrew")["words"]
_HEBREW = re.compile("[א-ת]")
_FINAL = str.maketrans("כמנפצ", "ךםןףץ")
_START = r"(?<![\w\"״׳'])"
_END = r"(?![\w\"״׳'])"

PROFILE_TEMPLATES = {
    "preferred_name": "ל{who} קוראים {value}",
    "pronouns": "{who} מבקש פנייה ב{value}",
    "city": "{who} {lives} ב{value}",
    "language": "השפה המועדפת על {who} היא {value}",
    "tone": "הסגנון המועדף על {who} הוא {value}",
}

# ——— clauses ———

_OPENER = re.compile(rf"^\W*(?:{fill_word_lists('{opener}', _WORDS)}{_END}[,:!.\s–-]*)+")
_BOUNDARY = re.compile(
    r"\s*;\s*|\s+[–—-]+\s+|,?\s+(?:אז|אבל|כי|לכן|ולכן|למרות ש\S*|כך ש\S*|ואז)\s+"
    rf"|,\s+(?=(?:אני|אנחנו|הוא|היא|הם|זה|זאת|עדיף|שנה|ויש|יש|כולם|היא|עובד|עובדת|בעיקר|תעזור|אתה|את){_END})"
    rf"|\s+ו(?=(?:אני|אנחנו|יש|אין|ה[א-ת]+ (?:שלי|חולה)){_END})|[.!?…]+\s*$"
)
_TAIL = re.compile(
    rf"(?:[\s,]+(?:בבקשה|תודה|אגב|חחח*|דרך אגב|עכשיו|כרגע|מעולה|כבר שבוע){_END})+\W*$"
)


_REMIND = re.compile(
    r"^\W*(?:בבקשה )?(?:(?:תזכיר|תזכירי) לי|לא לשכוח|אל תשכח|אל תשכחי) ל(?=[א-ת]{3})"
)


def is_hebrew(text: str) -> bool:
    return _HEBREW.search(text) is not None


def split_clauses(sentence: str) -> list[str]:
    """Independent clauses of a sentence, without conjunctions."""
    found = []
    sentence = _REMIND.sub("אני צריך ל", sentence)
    for part in _BOUNDARY.split(_OPENER.sub("", sentence, count=1)):
        clause = _TAIL.sub("", _OPENER.sub("", (part or "").strip(), count=1))
        clause = clause.strip(" ,.;:!?…()–-")
        if clause:
            found.append(clause)
    return found


# ——— gender of the speaker ———

_AND_ME = re.compile(
    rf"{_START}(?:ו|ש|כש|וש)?אני(?: {fill_word_lists('{adv}', _WORDS)})* (?P<next>[א-ת]+)"
)
_MASCULINE_IN_H = frozenset(_WORDS["men_in_h"].split())


def gendered_user(clause: str) -> str:
    """The word for the user, in the gender that the word after «אני» shows."""
    found = _AND_ME.search(clause)
    word = found["next"] if found else ""
    feminine = (word.endswith("ה") and word not in _MASCULINE_IN_H) or (
        word.endswith("ת") and word != "מת"
    )
    return HEBREW_USER_FEMALE if feminine and len(word) > 1 else HEBREW_USER


def said_verb(who: str) -> str:
    """«אמר» or «אמרה», by the gender of the speaker's name."""
    last = who.removesuffix(" שלי").split()[-1]
    return "אמרה" if last.endswith(("ה", "ת", "תי")) or last in ("אמא", "סבתא", "אימא") else "אמר"


# ——— third person ———

_PAST = re.compile(rf"{_START}([א-ת]{{2,}})(?:תי|נו){_END}")
_STEMS = frozenset((_WORDS["past"] + " " + _WORDS["settled"] + " נולד גדל למד עבד").split())
_STEMS |= frozenset(_VERBS["past"])
_PREFIX = re.compile("וכש|וש|כש|ו|ש")
_CAUSATIVE = 4  # letters of הדלק
# אשתי and שלנו end like verbs but are not, with any prefix letters.
_NO_VERB = "|".join((*_VERBS["kin"], *_VERBS["mine"], "אנחנו", "מתי"))
_MINE = re.compile(f"[ושבלמכה]{{0,2}}(?:{_NO_VERB})")
_ME = re.compile(rf"{_START}(?P<joined>ו|ש|כש|וש)?(?P<who>אני|אנחנו|אנו)(?= )")
_PLURAL = re.compile(
    rf"^(?P<before>(?:(?:תמיד|בדרך כלל|לא|כבר|גם) )*)(?P<verb>[א-ת]{{2,}}ים){_END}"
)
_LISTED = {**_VERBS["kin"], **_VERBS["mine"]}
_LONGEST_FIRST = "|".join(sorted(_LISTED, key=len, reverse=True))
_SMALL = re.compile(rf"{_START}(?P<joined>[ושבלמכ]{{0,2}}?)(?P<word>{_LONGEST_FIRST}){_END}")
_HAVE = re.compile(rf"^(?P<have>יש|אין|היה|הייתה|היו) (?:לי|לנו){_END}")
_WITHOUT_SUBJECT = re.compile(
    r"^(?:(?:תמיד|כבר|רק|גם|לא) )*"
    r"(?:צריך|צריכה|חייב|חייבת|מוכרח|עובד|עובדת|[א-ת]{2,}(?:ים))(?= )"
)
_HANGING = re.compile(r"\s(?:עם|את|של|ל|ב)\S*(?: \S+){0,3}? של(?:ה|ו|הם|הן)$")


# «המשתמש», and «למשתמש» ("to the user").
_OF_THE_USER = re.compile(rf"(?:ה|(?P<to>ל))משתמשת?{_END}")


def to_third_person(clause: str, subject: str = "the user") -> str | None:
    """A first-person clause about the user in the third person; None if a pronoun remains."""
    user = gendered_user(clause)
    text = _HAVE.sub(rf"ל{user[1:]} \g<have>", _HANGING.sub("", clause))
    text = _with_subject(text)
    text = _ME.sub(lambda found: f"{found['joined'] or ''}{user}", text)
    text = _past_to_third_person(text, user)
    text = _SMALL.sub(lambda found: _to_third_person_word(found, user), text)
    text = " ".join(text.split())
    if not text or any(remark.code == "pronoun" for remark in check_writing(Kind.FACT, text)):
        return None
    return text if subject == "the user" else _OF_THE_USER.sub(rf"\g<to>{subject}", text)


def _with_subject(text: str) -> str:
    """ "We" becomes singular; a missing subject is inserted."""
    found = _ME.match(text)
    if found and found["who"] != "אני":
        rest = text[found.end() :].strip()
        return f"{found['joined'] or ''}{HEBREW_USER} {_PLURAL.sub(_singular, rest)}"
    if _WITHOUT_SUBJECT.match(text) and not found:
        return f"{HEBREW_USER} {_PLURAL.sub(_singular, text)}"
    return text


def _singular(found: re.Match[str]) -> str:
    verb = found["verb"]
    listed = _VERBS["plural"].get(verb)
    bare = verb[:-2]
    return found["before"] + (listed or bare[:-1] + bare[-1].translate(_FINAL))


def _past_to_third_person(text: str, user: str) -> str:
    """First-person past verbs in the third person, after one subject."""

    def to_third_person_verb(found: re.Match[str]) -> str:
        if _MINE.fullmatch(found[0]):
            return found[0]
        joined, stem = _stem(found[1])
        before = text[: found.start()]
        named = user in before or bool(joined == "ו" and before)
        return f"{joined}{'' if named else user + ' '}{_third_past(stem)}"

    return _PAST.sub(to_third_person_verb, text)


def _stem(word: str) -> tuple[str, str]:
    """A verb without its ending: prefix letters and stem."""
    if word in _STEMS or word[:-1] + word[-1].translate(_FINAL) in _STEMS:
        return "", word
    prefix = _PREFIX.match(word)
    if prefix and word[prefix.end() :] in _STEMS:
        return prefix[0], word[prefix.end() :]
    return "", word


def _third_past(stem: str) -> str:
    listed: str | None = _VERBS["past"].get(stem)
    if listed:
        return listed
    third = stem[:-1] + stem[-1].translate(_FINAL)
    # הדלק(תי) → הדליק, but not התקשר(תי)
    causative = len(stem) == _CAUSATIVE and stem[0] == "ה" and stem[1] not in "תי"
    return f"{third[:-1]}י{third[-1]}" if causative and stem not in _STEMS else third


def _to_third_person_word(found: re.Match[str], user: str) -> str:
    listed: str = _LISTED[found["word"]]
    replacement = listed.replace(HEBREW_USER, user) if found["word"] in _VERBS["mine"] else listed
    return f"{found['joined']}{replacement}".strip()
