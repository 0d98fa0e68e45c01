"""Kind and category of a text; "remember that" triggers are stripped.

The default is a note. A changed kv or contact asks the user for confirmation, so that a false
positive costs more than a miss.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache

from commonplace.language.fields.contacts import parse_contact
from commonplace.language.fields.key_values import parse_key_value
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


@dataclass(frozen=True)
class CategoryRule:
    """A category and its patterns; one match is enough."""

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
# Later in the same sentence; bounded, to limit the time.
_SAME_SENTENCE = r"[^.!?]{0,120}"
# Hebrew: the start of a word, with or without the prefix "and" or "that".
_HE = r"(?<![א-ת])(?:ו|ש|כש)?"
_END = r"(?![א-ת])"

# The first match wins. More specific rules precede more common ones: "I need to call my brother" is
# a task, and "my brother loves jazz" is about the brother.
CATEGORY_RULES: tuple[CategoryRule, ...] = (
    CategoryRule(
        "goals",
        (
            r"\b(?:my|our)(?: \S+)? (?:aims?|resolutions?|ambitions?|dream) (?:is|are|was)\b",
            r"\b(?:my|our)(?: \S+)? goals?\b",
            rf"{_PERSON} (?:want|hope|plan|intend)s? to\b{_SAME_SENTENCE}\bby\b",
            r"\b(?:i|we|i'm|we're|user)(?: am| are| is)? aim(?:s|ing)? to\b",
            rf"{_PERSON} (?:dream|dreams) of\b",
            rf"{_PERSON_IS} (?:saving (?:up )?for|working towards?|determined to)\b",
            rf"{_HE}(?:המטרה|המטרות|היעד|היעדים|השאיפה|החלום|השאיפות) (?:\S+ )?של(?:י|נו){_END}",
            rf"{_HE}(?:שואף|שואפת|שואפים|חולם|חולמת) ל",
            rf"{_HE}אני רוצה ל\S+{_SAME_SENTENCE} עד{_END}",
        ),
    ),
    CategoryRule(
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
    CategoryRule(
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
    CategoryRule(
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
    CategoryRule(
        "preferences",
        (
            r"\bprefer(?:s|red|ence|ences|ring)?\b",
            r"(?:\b(?:my|his|her|their|our)|'s) favou?rites?\b|\bfavou?rite \w+ (?:is|are)\b",
            rf"{_HE}(?:מעדיף|מעדיפה|מעדיפים|מעדיפות|העדפתי|ההעדפה){_END}",
            rf"{_HE}ה?(?:אהוב|אהובה|אהובים|אהובות) עלי",
        ),
    ),
    CategoryRule(
        "relationships",
        (
            rf"\bmy (?:(?!own )\w+ ){{0,2}}{_RELATIVE}\b(?! (?:code|class))",
            rf"{_HE}ל?(?:אשתי|בעלי|אחי|אחותי|אמי|אבי|אימי|בני|בתי|דודי|דודתי|חברתי|הוריי|הורי|סבתי){_END}",
            rf"{_HE}[בלמ]?(?:ה?(?:אמא|אבא|סבא|סבתא|אח|אחות|בן|בת|בוס|מנהל|מנהלת|חבר|חברה|שכן|שכנה|"
            rf"שותף|שותפה|בן זוג|בת זוג|ילדים|הורים|אישה|בעל)) (?:הכי טוב(?:ה)? )?שלי{_END}",
        ),
    ),
    CategoryRule(
        "interests",
        (
            r"(?<!not )(?<!n't )(?<!less )\binterested in\b|\bpassionate about\b|\bfascinated by\b",
            r"\bmy (?:\w+ )?(?:hobby|hobbies|interests?|passions?)\b|\b(?:big|huge) fan of\b",
            rf"{_PERSON_IS}(?: really| very much)? into\b",
            rf"{_HE}(?:מתעניין|מתעניינת|מתעניינים){_END}|{_HE}(?:התחביב|התחביבים|תחביבים){_END}",
        ),
    ),
    CategoryRule(
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
    CategoryRule(
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

# The topic of a long text is clear from its beginning.
_CATEGORY_CHARACTERS = 2_000

_HEBREW_LETTER = re.compile("[א-ת]")


@cache
def _compiled_rules(with_hebrew: bool) -> tuple[tuple[str, re.Pattern[str]], ...]:
    """Hebrew patterns are skipped for text without Hebrew letters: trying them takes most of the
    time."""

    def fitting(rule: CategoryRule) -> list[str]:
        return [p for p in rule.patterns if with_hebrew or not _HEBREW_LETTER.search(p)]

    return tuple((rule.category, re.compile("|".join(fitting(rule)))) for rule in CATEGORY_RULES)


def categorise(text: str) -> str | None:
    """The category of the first matching rule; None without a match."""
    plain = " ".join(text[:_CATEGORY_CHARACTERS].casefold().translate(_APOSTROPHES).split())
    for category, pattern in _compiled_rules(_HEBREW_LETTER.search(plain) is not None):
        if pattern.search(plain):
            return category
    return None


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
    if len(split_sentences(stripped.field_text)) == 1:
        for kind, read in _FIELD_READERS.items():
            fields = read(stripped.field_text, False)
            if fields:
                return Classification(kind, stripped.field_text, fields)
    return Classification(DEFAULT_KIND, stripped.content)


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
