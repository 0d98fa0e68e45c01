"""Writing policy for facts, events and insights, with a remark per violation.

One or two sentences, at most 280 characters, self-contained and neutral; facts and insights in the
third person and without pronouns; events in the past tense and without stable facts. A caller's
text is stored unchanged and gets remarks; the engine's own text must comply.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass

from commonplace.language.text.sentences import is_past, split_sentences
from commonplace.model.memory.kinds import Kind, WritingStyle, kinds_where

MAX_CHARACTERS = 280
MAX_SENTENCES = 2

_APOSTROPHES = str.maketrans("\u2019\u02bc", "''")
# A separate Hebrew word, with or without the prefix "and" or "that".
_HE = r"(?<![\w'\"״׳])(?:ו|ש|כש)?"
_END = r"(?![\w'\"״׳])"


@dataclass(frozen=True, slots=True)
class WritingRemark:
    """A violation of the policy; the code is stable, the message is for people."""

    code: str
    message: str

    def __str__(self) -> str:
        return self.message


@dataclass(frozen=True, slots=True)
class WritingRule:
    code: str
    kinds: frozenset[Kind]
    message: str  # {found} is the offending text
    offence: Callable[[str], str | None]  # the offending text, or None


# ——— patterns ———

_PRONOUNS = (
    # "World War I" and "Elizabeth I" are not first person, "US" and "IT" are not pronouns.
    r"(?<!War )(?<!Part )(?<!Type )(?<!Phase )(?<!Class )(?<!Elizabeth )(?<!Charles )\bI(?:'\w+)?\b"
    r"(?!\.\w)",
    r"\b(?:[Mm]e|[Mm]y|[Mm]yself|[Ww]e|[Uu]s|[Oo]urs?|[Oo]urselves|[Yy]ou|[Yy]ours?|[Yy]ourself)\b",
    r"\b(?:[Hh]e|[Hh]im|[Hh]is|[Hh]imself|[Ss]he|[Hh]ers?|[Hh]erself|[Ii]t|[Ii]ts|[Ii]tself)\b",
    r"\b(?:[Tt]hey|[Tt]hem|[Tt]heirs?|[Tt]hemselves)\b",
    rf"{_HE}(?:אני|אנחנו|אנו|אתה|אתם|אתן|שלי|שלנו|שלך|שלכם|שלו|שלה|שלהם|שלהן){_END}",
    rf"{_HE}(?:אותי|אותנו|אותך|אותו|אותה|אותם|אותן|לי|לנו|לך|לכם|להם|להן|איתי|איתו|איתה){_END}",
    rf"{_HE}(?:עליי|עלי|עליו|עליה|עליהם|ממני|ממנו|ממנה|אליי|אליו|אליה|אצלי|אצלו|אצלה){_END}",
    rf"{_HE}(?:אשתי|אמי|אחותי|חברתי|הוריי|משפחתי|ביתי|לדעתי|שמי){_END}",
    # After a noun these mean "is" («הבירה היא פריז»), at the start of a sentence a person.
    rf"(?:^|[.!?:;,] ){_HE}(?:הוא|היא|הם|הן){_END}",
)

_CONTEXT_DEPENDENT = (
    r"^(?:this|that|these|those|there|also|and|but|then|so|because|or|as (?:above|said|before))\b",
    r"\b(?:today|yesterday|tomorrow|tonight|right now|nowadays|recently|lately|just now)\b",
    r"\b(?:last|next|this) (?:week|month|year|night|morning|evening|time|weekend|\w+day)\b",
    r"\b(?:\w+ (?:days?|weeks?|months?|years?)|a while) ago\b|\bthe other day\b",
    r"\b(?:over )?here\b|\bas mentioned\b|\b(?:the (?:former|latter)|see above)\b",
    rf"^(?:זה|זאת|זו|אלה|אלו|וגם|גם|אבל|אז|כי|לכן|ואז|שם){_END}",
    rf"{_HE}(?:אתמול|שלשום|מחר|מחרתיים|עכשיו|כרגע|לאחרונה|בקרוב|כאן|פה|הערב|הלילה|הבוקר){_END}",
    rf"^(?:ו)?היום{_END}|{_HE}(?:השבוע|החודש|השנה)(?: (?:שעבר|שעברה|הבא|הבאה))?{_END}",
    rf"{_HE}ל?פני (?:\S+ )?(?:ימים|שבוע|שבועיים|שבועות|חודש|חודשיים|חודשים|שנה|שנתיים|שנים){_END}",
    r"(?:…|\.\.\.)$",
)

_NOT_NEUTRAL = (
    r"!|\bwow\b|\blol\b|\bomg\b|\bhaha\w*|\bugh\b",
    r"\b(?:amazing|awesome|fantastic|incredible|brilliant|gorgeous|adorable|epic|genius)(?:ly)?\b",
    r"\b(?:terrible|horrible|awful|disgusting|stupid|idiot\w*|dumb|pathetic|ridiculous|hideous|"
    r"crappy|lousy|insane|crazy|shitty|damn(?:ed)?|fucking|loser|nightmare)\b",
    r"\b(?:unfortunately|luckily|sadly|obviously|of course|thankfully|honestly|frankly|clearly)\b",
    rf"{_HE}(?:וואו|איזה כיף|סוף סוף|לצערי|לצערנו|לשמחתי|למרבה הצער|ברור ש\w+|כמובן){_END}",
    rf"{_HE}ה?(?:מדהים|מדהימה|מהמם|מהממת|נפלא|נפלאה|אדיר|אדירה|גאון|גאונה|מושלם|מושלמת){_END}",
    rf"{_HE}ה?(?:נורא|נוראי|נוראית|מזעזע|מזעזעת|מגעיל|מגעילה|אידיוט|אידיוטית|טיפש|טיפשה|מטומטם|"
    rf"מטומטמת|דפוק|דפוקה|חרא|סיוט){_END}",
    "[\U0001f300-\U0001faff\u2600-\u26ff\u2705\u2764]",
)

_STABLE_FACTS = (
    r"\b(?:lives|resides) in\b|\bworks (?:at|for|as|in)\b|\bis (?:a|an|the|from|married|single)\b",
    r"\bis (?:allergic|vegan|vegetarian|\d+ years old|divorced|diabetic|fluent|based in)\b",
    r"\b(?:likes|loves|hates|prefers|enjoys|dislikes|speaks|owns|believes)\b",
    r"'s (?:name|birthday) is\b|\b(?:always|usually|every (?:day|week|month|year))\b",
    r"\bhas (?:an?|two|three|four|five|\d+) (?:\w+ )?(?:child|children|kids?|sons?|daughters?|"
    r"dogs?|cats?|brothers?|sisters?|house|car|degree)\b",
    rf"{_HE}(?:גר|גרה|גרים|מתגורר|מתגוררת|עובד|עובדת|עובדים) (?:ב|כ|אצל)\S*",
    rf"{_HE}(?:אוהב|אוהבת|אוהבים|שונא|שונאת|מעדיף|מעדיפה|דובר|דוברת|מדבר|מדברת) [א-ת]",
    rf"{_HE}(?:אלרגי|אלרגית|נשוי|נשואה|רווק|רווקה|גרוש|גרושה|צמחוני|צמחונית|טבעוני|טבעונית){_END}",
    rf"{_HE}(?:תמיד|בדרך כלל|כל (?:יום|שבוע|חודש|שנה|בוקר|ערב)){_END}|{_HE}יש ל\S+ (?:\S+ )?ילדים",
)


# ——— checks ———


def _pattern_check(
    patterns: tuple[str, ...], flags: re.RegexFlag = re.IGNORECASE
) -> Callable[[str], str | None]:
    """A function that finds the first match of one of the patterns."""
    compiled = re.compile("|".join(patterns), flags)

    def offence(text: str) -> str | None:
        for sentence in split_sentences(text):
            found = compiled.search(sentence)
            if found:
                return found[0].strip(" .,:;")
        return None

    return offence


def _too_long(text: str) -> str | None:
    return f"{len(text):,}" if len(text) > MAX_CHARACTERS else None


def _too_many_sentences(text: str) -> str | None:
    count = len(split_sentences(text))
    return str(count) if count > MAX_SENTENCES else None


def _question(text: str) -> str | None:
    return next((one for one in split_sentences(text) if one.endswith(("?", "？", "؟"))), None)


def _not_past(text: str) -> str | None:
    return next((one for one in split_sentences(text) if not is_past(one)), None)


# ——— rules ———

_ALL = frozenset(kinds_where(lambda policy: policy.writing is not None))
_DURABLE = frozenset(kinds_where(lambda policy: policy.writing is WritingStyle.THIRD_PERSON))
_EVENT = frozenset(kinds_where(lambda policy: policy.writing is WritingStyle.PAST_TENSE))

WRITING_RULES: tuple[WritingRule, ...] = (
    WritingRule("length", _ALL, "It has {found} characters; write at most 280.", _too_long),
    WritingRule(
        "sentences", _ALL, "It has {found} sentences; write one or two.", _too_many_sentences
    ),
    WritingRule("question", _ALL, "It asks («{found}»); write a statement.", _question),
    WritingRule(
        "context",
        _ALL,
        "«{found}» is understood only in its context; name the thing, the place or the date.",
        _pattern_check(_CONTEXT_DEPENDENT),
    ),
    WritingRule(
        "neutral", _ALL, "«{found}» is not neutral; say what is so.", _pattern_check(_NOT_NEUTRAL)
    ),
    WritingRule(
        "pronoun",
        _DURABLE,
        "«{found}» is a pronoun; write in the third person and name who is meant.",
        _pattern_check(_PRONOUNS, re.NOFLAG),
    ),
    WritingRule("past", _EVENT, "«{found}» is not in the past tense.", _not_past),
    WritingRule(
        "stable",
        _EVENT,
        "«{found}» is a stable fact; keep it as a fact.",
        _pattern_check(_STABLE_FACTS),
    ),
)


_SPEAKS = _pattern_check(
    (
        *_PRONOUNS[:2],
        rf"{_HE}(?:אני|אנחנו|אנו|אתה|אתם|אתן|שלי|שלנו|שלך|שלכם|אותי|אותנו|אותך|לי|לנו|לך|לכם){_END}",
        r"\b(?:[Ii]ch|[Mm]ich|[Mm]ir|[Mm]eine?[mnrs]?|[Ww]ir|[Uu]nsere?[mnrs]?|[Dd]u|[Dd]eine?[mnrs]?)\b",
    ),
    re.NOFLAG,
)


def speaks_of_itself(text: str) -> bool:
    """Whether it is in the first or second person: as somebody said it, not as it is told later."""
    return _SPEAKS(text.translate(_APOSTROPHES)) is not None


def check_writing(kind: Kind, text: str) -> tuple[WritingRemark, ...]:
    """Violations of the kind's policy, in the order of the rules; empty if there are none.

    Only facts, events and insights have a policy.
    """
    plain = text.translate(_APOSTROPHES).strip()
    return tuple(
        WritingRemark(rule.code, rule.message.format(found=_truncate(found)))
        for rule in WRITING_RULES
        if kind in rule.kinds and (found := rule.offence(plain)) is not None
    )


def _truncate(found: str, limit: int = 40) -> str:
    return found if len(found) <= limit else found[: limit - 1].rstrip() + "…"
