"""The category a text falls into, by a table of readable rules in English and Hebrew."""

import re
from dataclasses import dataclass
from functools import cache

_APOSTROPHES = str.maketrans("\u2019\u02bc", "''")


@dataclass(frozen=True)
class Rule:
    """A text that one of these patterns is found in belongs to the category."""

    category: str
    patterns: tuple[str, ...]


_PERSON = r"\b(?:i|we|the user)"
_PERSON_IS = rf"(?:{_PERSON}(?: am| are| is|'m|'re))"
_VERY = r"(?: (?:really|also|just|absolutely|still|always|truly|particularly|especially|both))*"
_RELATIVE = (
    r"(?:wife|husband|spouse|girlfriend|boyfriend|fianc[ée]e?|mother|father|mom|mum|dad|parents?|"
    r"brothers?|sisters?|siblings?|sons?|daughters?|kids?|child(?:ren)?|uncle|aunt|cousins?|"
    r"nephew|niece|grand(?:mother|father|ma|pa|parents)|(?:mother|father|brother|sister)-in-law|"
    r"boss|manager|colleagues?|co-?workers?|neighbou?rs?|room-?mates?|(?:best )?friend|"
    r"partner|mentor|therapist|landlord)"
)
# Later in the same sentence; bounded, so that no text takes long.
_SOON = r"[^.!?]{0,120}"
# Hebrew: the start of a word, with "and" or "that" glued to it or not.
_HE = r"(?<![א-ת])(?:ו|ש|כש)?"
_END = r"(?![א-ת])"

# The first rule that fits wins, so what is more certain stands above what is more common: "I need
# to call my brother" is a task, and "my brother loves jazz" is about the brother.
RULES: tuple[Rule, ...] = (
    Rule(
        "goals",
        (
            r"\b(?:my|our)(?: \S+)? (?:aims?|resolutions?|ambitions?|dream) (?:is|are|was)\b",
            r"\b(?:my|our)(?: \S+)? goals?\b",
            rf"{_PERSON} (?:want|hope|plan|intend)s? to\b{_SOON}\bby\b",
            r"\b(?:i|we|i'm|we're|user)(?: am| are| is)? aim(?:s|ing)? to\b",
            rf"{_PERSON} (?:dream|dreams) of\b",
            rf"{_PERSON_IS} (?:saving (?:up )?for|working towards?|determined to)\b",
            rf"{_HE}(?:המטרה|המטרות|היעד|היעדים|השאיפה|החלום|השאיפות) (?:\S+ )?של(?:י|נו){_END}",
            rf"{_HE}(?:שואף|שואפת|שואפים|חולם|חולמת) ל",
            rf"{_HE}אני רוצה ל\S+{_SOON} עד{_END}",
        ),
    ),
    Rule(
        "constraints",
        (
            # An instruction ("Always answer …"), not a remark ("Always happy to help").
            r"^(?:please )?(?:always|never) (?!(?:been|here|good|great|nice|happy|up|a|the|had|saw|"
            r"felt|thought|knew|say|give|mind|\w+ing|\w+ed)\b)\w",
            r"\b(?:must|should) (?:always|never)\b",
            r"\b(?:must not|mustn't)\b",
            r"\b(?:my|our|the|a|house|golden|hard) rule\b|\brules?:",
            r"\b(?:is|are) (?:not allowed|forbidden|prohibited|off[- ]limits)\b",
            r"\b(?:do not|don't) ever\b|\bunder no circumstances\b",
            rf"{_PERSON} never (?:eat|drink|work|fly|drive|smoke|use|take|answer)s?\b",
            rf"^(?:תמיד|לעולם|אף פעם|בשום אופן){_END}",
            rf"{_HE}אסור (?:ל|לי|לנו)",
            rf"{_HE}(?:הכלל|החוק) (?:הוא|שלי|שלנו|בבית){_END}|^כלל:",
        ),
    ),
    Rule(
        "tasks",
        (
            rf"{_PERSON}(?: (?:really|still|also))? (?:need|needs|have|has|'ve got|got) to\b"
            r"(?! (?:say|admit|know|be honest|wonder))",
            r"\b(?:needs|has) to (?!be honest)|\bneeds? to be \w+ed\b",
            rf"{_PERSON} must (?!have\b|be (?:nice|great|fun)|admit|say)",
            r"\bto-?dos?\b(?! (?:with|about))|\bdeadlines?\b|\baction items?\b",
            r"\bdue (?:on|by|date|today|tomorrow|tonight|next|this|in|at|before)\b(?! course)",
            r"(?:^|\b(?:please|can you|could you) |[.!,] )remind (?:me|us)\b(?! of)",
            r"\breminder(?: to|:)|\b(?:don't|do not) forget to\b|^remember to\b",
            rf"{_HE}(?:צריך|צריכה|צריכים|צריכות|חייב|חייבת|חייבים|חייבות) ל",
            rf"{_HE}(?:להזכיר|תזכיר|תזכירי|תזכורת|הזכר) ?(?:לי|לנו|ל|:|$)|{_HE}לא לשכוח{_END}",
            rf"{_HE}(?:דדליין|הדדליין|מועד אחרון|המועד האחרון|משימה|המשימה|משימות){_END}",
        ),
    ),
    Rule(
        "profile",
        (
            r"\bmy (?:full |first |last |middle )?name is\b|\b(?:i am|i'm) called\b",
            rf"{_PERSON} (?:live|lives|lived|reside|resides|grew up|moved) (?:in|at|to|near)\b",
            rf"{_PERSON_IS} (?:originally )?from\b|{_PERSON} (?:come|comes) from\b",
            r"\b(?:i|we|user) (?:was|were) born\b",
            r"\bmy (?:birthday|birth date|date of birth|age|nationality|native language|blood type|"
            r"job|profession|occupation|height|weight|"
            r"(?:home |postal |e-?mail |phone )?(?:address|number)|e-?mail|phone)\b"
            r"[^.!?]{0,40}\bis\b",
            rf"{_PERSON_IS} (?:\d+ years old|allergic|married|single|divorced|vegan|vegetarian)\b",
            rf"{_PERSON} (?:work|works) (?:at|as|for)\b|{_PERSON} (?:speak|speaks) \w",
            rf"{_HE}(?:קוראים לי|שמי|השם שלי){_END}",
            rf"{_HE}אני (?:גר|גרה|מתגורר|מתגוררת|עובד|עובדת|נשוי|נשואה|רווק|רווקה){_END}",
            rf"{_HE}(?:נולדתי|גדלתי){_END}|{_HE}אני (?:בן|בת) \d",
            rf"{_HE}אני (?:במקור מ|מ(?:תל אביב|ירושלים|חיפה|באר שבע))",
            rf"{_HE}יום ההולדת שלי|{_HE}(?:הכתובת|הטלפון|המייל|המקצוע|הגיל) שלי{_END}",
            rf"{_HE}אני (?:אלרגי|אלרגית|צמחוני|צמחונית|טבעוני|טבעונית){_END}",
        ),
    ),
    Rule(
        "preferences",
        (
            r"\bprefer(?:s|red|ence|ences|ring)?\b",
            r"(?:\b(?:my|his|her|their|our)|'s) favou?rites?\b|\bfavou?rite \w+ (?:is|are)\b",
            rf"{_HE}(?:מעדיף|מעדיפה|מעדיפים|מעדיפות|העדפתי|ההעדפה){_END}",
            rf"{_HE}ה?(?:אהוב|אהובה|אהובים|אהובות) עלי",
        ),
    ),
    Rule(
        "relationships",
        (
            rf"\bmy (?:(?!own )\w+ ){{0,2}}{_RELATIVE}\b(?! (?:code|class))",
            rf"{_HE}ל?(?:אשתי|בעלי|אחי|אחותי|אמי|אבי|אימי|בני|בתי|דודי|דודתי|חברתי|הוריי|הורי|סבתי){_END}",
            rf"{_HE}[בלמ]?(?:ה?(?:אמא|אבא|סבא|סבתא|אח|אחות|בן|בת|בוס|מנהל|מנהלת|חבר|חברה|שכן|שכנה|"
            rf"שותף|שותפה|בן זוג|בת זוג|ילדים|הורים|אישה|בעל)) (?:הכי טוב(?:ה)? )?שלי{_END}",
        ),
    ),
    Rule(
        "interests",
        (
            r"(?<!not )(?<!n't )(?<!less )\binterested in\b|\bpassionate about\b|\bfascinated by\b",
            r"\bmy (?:\w+ )?(?:hobby|hobbies|interests?|passions?)\b|\b(?:big|huge) fan of\b",
            rf"{_PERSON_IS}(?: really| very much)? into\b",
            rf"{_HE}(?:מתעניין|מתעניינת|מתעניינים){_END}|{_HE}(?:התחביב|התחביבים|תחביבים){_END}",
        ),
    ),
    Rule(
        "preferences",
        (
            rf"\b(?:i|we|they){_VERY} (?:like|love|hate|enjoy|adore|dislike|detest)\b(?! to know)",
            rf"\b(?:i|we|they) (?:don't|do not|didn't|did not){_VERY} (?:like|love|enjoy)\b",
            r"\b(?:i|we|they) (?:can't|cannot|can not) stand\b",
            r"\b(?:loves|hates|enjoys|dislikes|adores|detests)\b",
            r"\b(?:he|she|user)(?: really| also)? likes\b|\bdoesn't like\b|\bdoes not like\b",
            rf"{_HE}(?:אוהב|אוהבת|אוהבים|אוהבות|שונא|שונאת|שונאים|שונאות){_END}",
            rf"{_HE}לא (?:סובל|סובלת){_END}",
        ),
    ),
    Rule(
        "projects",
        (
            r"\bprojects?\b|\bmilestones?\b|\broadmap\b|\bbacklog\b",
            r"\b(?:this|next|last|current|our|the) sprint\b|\bsprint (?:\d|planning|review|goal)",
            r"\b(?:product|beta|app|website|site) launch\b|\blaunch (?:date|plan|is|on)\b",
            r"\b(?:we|will|to|team) (?:launch|release|ship)(?:es|s|ed)?\b",
            r"(?<!press )\brelease (?:date|candidate|notes|plan|is|v?\d)",
            rf"{_HE}[הבל]?(?:פרויקט|פרוייקט|פרויקטים|פרוייקטים|ספרינט|אבן דרך|אבני דרך){_END}",
            rf"{_HE}[הבל]?השקה{_END}|{_HE}[הבל]?השקת{_END}",
        ),
    ),
)

# A long text says early what it is about, and need not be read whole.
_LOOKED_AT = 2_000

_HEBREW_LETTER = re.compile("[א-ת]")


@cache
def _compiled(with_hebrew: bool) -> tuple[tuple[str, re.Pattern[str]], ...]:
    """Every Hebrew pattern asks for a Hebrew letter, and trying them all in vain takes most of the
    time."""

    def fitting(rule: Rule) -> list[str]:
        return [p for p in rule.patterns if with_hebrew or not _HEBREW_LETTER.search(p)]

    return tuple((rule.category, re.compile("|".join(fitting(rule)))) for rule in RULES)


def categorise(text: str) -> str | None:
    """The category of the first rule that fits; None when none does."""
    plain = " ".join(text[:_LOOKED_AT].casefold().translate(_APOSTROPHES).split())
    for category, pattern in _compiled(_HEBREW_LETTER.search(plain) is not None):
        if pattern.search(plain):
            return category
    return None
