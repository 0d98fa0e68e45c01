"""Hebrew clauses, and first-person statements rewritten in the third person.

The present has no person in Hebrew, only gender and number: there the subject alone changes, and
its gender is that of the verb («אני גרה» is said by a woman). The past has the person in the verb,
and no gender in the first; then «המשתמש» stands for anybody.
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
    """The parts of a sentence that can stand alone, without what only links them."""
    found = []
    sentence = _REMIND.sub("אני צריך ל", sentence)
    for part in _BOUNDARY.split(_OPENER.sub("", sentence, count=1)):
        clause = _TAIL.sub("", _OPENER.sub("", (part or "").strip(), count=1))
        clause = clause.strip(" ,.;:!?…()–-")
        if clause:
            found.append(clause)
    return found


# ——— who speaks ———

_AND_ME = re.compile(
    rf"{_START}(?:ו|ש|כש|וש)?אני(?: {fill_word_lists('{adv}', _WORDS)})* (?P<next>[א-ת]+)"
)
_MASCULINE_IN_H = frozenset(_WORDS["men_in_h"].split())


def gendered_user(clause: str) -> str:
    """The user as a man or a woman, as far as the word after «אני» shows it."""
    found = _AND_ME.search(clause)
    word = found["next"] if found else ""
    womanly = (word.endswith("ה") and word not in _MASCULINE_IN_H) or (
        word.endswith("ת") and word != "מת"
    )
    return HEBREW_USER_FEMALE if womanly and len(word) > 1 else HEBREW_USER


def said_verb(who: str) -> str:
    """«אמר» or «אמרה», by who it is."""
    last = who.removesuffix(" שלי").split()[-1]
    return "אמרה" if last.endswith(("ה", "ת", "תי")) or last in ("אמא", "סבתא", "אימא") else "אמר"


# ——— the third person ———

_PAST = re.compile(rf"{_START}([א-ת]{{2,}})(?:תי|נו){_END}")
_STEMS = frozenset((_WORDS["past"] + " " + _WORDS["settled"] + " נולד גדל למד עבד").split())
_STEMS |= frozenset(_VERBS["past"])
_GLUED = re.compile("וכש|וש|כש|ו|ש")
_CAUSATIVE = 4  # letters of הדלק
# אשתי and שלנו end like verbs and are none, whatever is glued to them.
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


# «המשתמש», and «למשתמש»: to them.
_OF_THE_USER = re.compile(rf"(?:ה|(?P<to>ל))משתמשת?{_END}")


def to_third_person(clause: str, subject: str = "the user") -> str | None:
    """What is said of oneself as it is said of the user; None where a pronoun would be left."""
    user = gendered_user(clause)
    said = _HAVE.sub(rf"ל{user[1:]} \g<have>", _HANGING.sub("", clause))
    said = _with_subject(said)
    said = _ME.sub(lambda found: f"{found['joined'] or ''}{user}", said)
    said = _past_to_third_person(said, user)
    said = _SMALL.sub(lambda found: _to_third_person_word(found, user), said)
    said = " ".join(said.split())
    if not said or any(remark.code == "pronoun" for remark in check_writing(Kind.FACT, said)):
        return None
    return said if subject == "the user" else _OF_THE_USER.sub(rf"\g<to>{subject}", said)


def _with_subject(said: str) -> str:
    """ "We" in the singular, and a subject where the speaker left it out."""
    found = _ME.match(said)
    if found and found["who"] != "אני":
        rest = said[found.end() :].strip()
        return f"{found['joined'] or ''}{HEBREW_USER} {_PLURAL.sub(_singular, rest)}"
    if _WITHOUT_SUBJECT.match(said) and not found:
        return f"{HEBREW_USER} {_PLURAL.sub(_singular, said)}"
    return said


def _singular(found: re.Match[str]) -> str:
    verb = found["verb"]
    listed = _VERBS["plural"].get(verb)
    bare = verb[:-2]
    return found["before"] + (listed or bare[:-1] + bare[-1].translate(_FINAL))


def _past_to_third_person(said: str, user: str) -> str:
    """Verbs of the first person in the third, after one subject."""

    def told(found: re.Match[str]) -> str:
        if _MINE.fullmatch(found[0]):
            return found[0]
        joined, stem = _stem(found[1])
        before = said[: found.start()]
        named = user in before or bool(joined == "ו" and before)
        return f"{joined}{'' if named else user + ' '}{_third_past(stem)}"

    return _PAST.sub(told, said)


def _stem(word: str) -> tuple[str, str]:
    """A verb without its ending: what is glued before it, and the rest."""
    if word in _STEMS or word[:-1] + word[-1].translate(_FINAL) in _STEMS:
        return "", word
    glued = _GLUED.match(word)
    if glued and word[glued.end() :] in _STEMS:
        return glued[0], word[glued.end() :]
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
    theirs = listed.replace(HEBREW_USER, user) if found["word"] in _VERBS["mine"] else listed
    return f"{found['joined']}{theirs}".strip()
