"""Category of a text, by rules that can be read: English and Hebrew."""

import re
from dataclasses import dataclass
from functools import cache

APOSTROPHES = str.maketrans("\u2019\u02bc", "''")


@dataclass(frozen=True)
class CategoryRule:
    """A category and its patterns; one match is enough."""

    category: str
    patterns: tuple[str, ...]


_PERSON = r"\b(?:i|we|the user)"
# Also without the pronoun, as people type: "hoping to get promoted".
_ME = (
    r"(?:^(?:still |now |currently |also |always |lately )?"
    rf"|{_PERSON}(?: am| are| is|'m|'re|m)? (?:\w+ly |also |still |just |now )?)"
)
_PERSON_IS = rf"(?:{_PERSON}(?: am| are| is|'m|'re))"
_VERY = r"(?: (?:really|also|just|absolutely|still|always|truly|particularly|especially|both))*"
_RELATIVE = (
    r"(?:wife|husband|spouse|girlfriend|boyfriend|fianc[ée]e?|mother|father|mom|mum|dad|parents?|"
    r"brothers?|sisters?|siblings?|sons?|daughters?|kids?|child(?:ren)?|uncle|aunt|cousins?|"
    r"nephew|niece|grand(?:mother|father|ma|pa|parents)|(?:mother|father|brother|sister)-in-law|"
    r"boss|manager|colleagues?|co-?workers?|neighbou?rs?|room-?mates?|(?:best )?friend|"
    r"partner|mentor|therapist|landlord)"
)
# Not a goal: "I want to know …".
_PASSING = (
    r"(?:know|ask|say|tell|call|phone|email|text|check|order|thank|mention|talk|point|add|hear|"
    r"see (?:if|what|how|whether)|"
    r"be honest|make sure|understand)"
)
_PASSING_HE = r"(?:דעת|שאול|הגיד|התקשר|הזמין|בדוק|הוסיף|ציין|הבין|ראות|שמוע)"
_JOB_IN_HAND = (
    r"(?:building|writing|developing|designing|redesigning|renovating|migrating|rewriting|"
    r"restoring|launching|setting up|putting together)"
)
_ERRAND = (
    r"(?:(?:buy|pay|collect|send|cancel|renew|submit|finish|arrange|ask|reply|bring|drop off|"
    r"pick up|grab|hand in|reschedule|confirm|bake|mow|hoover|tidy|make an? appointment) |"
    r"call (?!with |from |at |is |was )|"
    # These are nouns, too: "water boils".
    r"(?:phone|ring|text|email|book|return|order|fix|clean|wash|water|feed|print|post|sign|"
    r"schedule|"
    r"get|file|update|take) (?:the|my|our|a|an|some|new|for|to|that|this|his|her|\d+|mum|dad|"
    r"mom)\b)"
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
            rf"(?:{_PERSON} |^)(?:(?:really|also|still) )?(?:wanna|(?:want|hope|plan|intend|"
            rf"wish)s? to)"
            rf" (?!{_PASSING}\b)",
            rf"\b(?:i|we)(?:'d| would) (?:really )?(?:love|like) to (?!{_PASSING}\b)",
            rf"{_ME}(?:hoping|planning|trying|aiming|determined) (?:to|for)\b (?!{_PASSING}\b)",
            rf"{_ME}(?:saving(?: up)?|training|aiming|preparing) for\b|\bbucket list\b",
            r"\b(?:i|we|i'm|we're|user)(?: am| are| is)? aim(?:s|ing)? to\b",
            rf"{_PERSON} (?:dream|dreams) of\b",
            rf"{_PERSON_IS} (?:saving (?:up )?for|working towards?|determined to)\b",
            rf"{_HE}(?:המטרה|המטרות|היעד|היעדים|השאיפה|החלום|השאיפות) (?:\S+ )?של(?:י|נו){_END}",
            rf"{_HE}(?:שואף|שואפת|שואפים|חולם|חולמת) ל",
            rf"{_HE}(?:רוצה|רוצים|רוצות|מקווה|מקווים|מתכנן|מתכננת|מתכננים|מנסה|מנסים|חוסך|חוסכת|"
            rf"חוסכים|מתאמן|מתאמנת) ל(?!{_PASSING_HE}{_END})",
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
            r"^(?:please )?(?:answer|reply|respond|write|talk|speak|keep|use|be)\b(?: to me)?"
            r"[^.!?]{0,30}\b(?:brief|briefly|short|concise|concisely|simple|simply|bullet points|"
            r"formal|informal|direct|like a)\b",
            r"^(?:please )?no (?:\w+ )?(?:emojis?|jargon|small talk|exclamation marks|swearing)\b",
            rf"^(?:תמיד|לעולם|אף פעם|בשום אופן){_END}",
            rf"^(?:בבקשה )?ת[א-ת]{{2,}} (?:לי )?(?:[א-ת]+ )?(?:בקצרה|קצר|בנקודות|בפשטות){_END}"
            r"|^בלי (?:אימוג'ים|אמוג'ים|אימוג׳ים|אמוג׳ים|אימוגים)",
            rf"{_HE}אסור (?:ל|לי|לנו)",
            rf"{_HE}(?:הכלל|החוק) (?:הוא|שלי|שלנו|בבית){_END}|^כלל:",
        ),
    ),
    CategoryRule(
        "tasks",
        (
            rf"{_PERSON}(?: (?:really|still|also))? (?:need|needs|have|has|'ve got|got) to\b"
            r"(?! (?:say|admit|know|be honest|wonder))",
            r"^(?:still |also )?(?:need to|gotta|have to|must|should really|we should|i should) \w",
            r"\b(?:i|we)(?: still)? (?:gotta|should really)\b",
            rf"^(?:please |also |and |then )*{_ERRAND}",
            r"\b(?:needs|has) to (?!be honest)|\bneeds? to be \w+ed\b",
            rf"{_PERSON} must (?!have\b|be (?:nice|great|fun)|admit|say)",
            r"\bto-?dos?\b(?! (?:with|about))|\bdeadlines?\b|\baction items?\b",
            r"\bdue (?:end|back|on|by|date|today|tomorrow|tonight|next|this|in|at|"
            r"before)\b(?! course)",
            r"(?:^|\b(?:please|can you|could you) |[.!,] )remind (?:me|us)\b(?! of)",
            r"\breminder(?: to|:)|\b(?:don't|do not) forget to\b|^remember to\b",
            rf"{_HE}(?:צריך|צריכה|צריכים|צריכות|חייב|חייבת|חייבים|חייבות) ל",
            rf"{_HE}(?:להזכיר|תזכיר|תזכירי|תזכורת|הזכר) ?(?:לי|לנו|ל|:|$)|{_HE}לא לשכוח{_END}",
            rf"^(?:גם |עוד |אז )?(?![א-ת]+(?:תי|נו){_END})ל(?!א{_END})[א-ת]{{3,}}{_END}"
            rf"(?! (?:יש|אין|היה|הייתה|היו|יהיה|קוראים|קראו|נולד|נולדה|כואב|כואבת|מגיע|חסר){_END})",
            rf"{_HE}עד סוף (?:ה?חודש|ה?שבוע|ה?יום|ה?שנה){_END}",
            rf"{_HE}(?:דדליין|הדדליין|מועד אחרון|המועד האחרון|משימה|המשימה|משימות){_END}",
        ),
    ),
    CategoryRule(
        "projects",
        (
            rf"(?:{_PERSON_IS}|\bim|^currently|^still|^now|\bteam is|^) ?(?:currently |now |"
            rf"still )?"
            rf"(?:working on (?:the|a|an|our|this)|{_JOB_IN_HAND} (?:a|an|the|our|my)?)\b",
            rf"{_HE}(?:עובד|עובדת|עובדים|עובדות) על{_END}|{_HE}(?:בונה|בונים|מפתח|מפתחת|מפתחים|"
            rf"כותב|כותבת|מעצב|מעצבת|משפץ|משפצת|משפצים) (?:את )?ה?(?:אפליקציה|אתר|ספר|תוכנה|בית|"
            rf"מערכת|משחק|דירה|מטבח|תוכנית){_END}",
            rf"{_HE}(?:מעביר|מעבירה|מעבירים) את ה?(?:מערכת|אתר|שרת|שרתים){_END}|{_HE}עול(?:ה|"
            rf"ים) לאוויר",
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
            rf"{_PERSON} (?:work|works) (?:at|as|for|from)\b|{_PERSON} (?:speak|speaks) \w",
            rf"(?:{_PERSON_IS}|\bim) an? (?!(?:bit|lot|big|huge|fan|member of|little|few|believer|"
            rf"mess)\b)",
            r"\b(?:i am|i'm|im) \d{1,3}(?: now| today)?\W*$|\b(?:i|people) (?:go by|call me)\b",
            r"\b(?:i|we) have (?:\d|an?|one|two|three|four|five) (?:\w+ )?(?:kids?|child|children|"
            r"sons?|"
            r"daughters?|boys?|girls?|cats?|dogs?|brothers?|sisters?)\b",
            r"\bi(?:'ve| have|ve) been an? \w|\b(?:i am|i'm|im) (?:left|right)[- ]handed\b",
            r"\bi (?:don't|do not|dont|can't|cannot|cant) (?:drink|eat|smoke|drive|swim)\b",
            rf"\bwe live\b|(?:{_PERSON_IS}|\bim) (?:retired|unemployed|self[- ]employed|pregnant|"
            r"colou?r[- ]?blind|dyslexic|diabetic|jewish|muslim|christian|hindu|buddhist|"
            r"atheist)\b",
            rf"{_HE}(?:קוראים לי|שמי|השם שלי){_END}",
            rf"{_HE}אני (?:גר|גרה|מתגורר|מתגוררת|עובד|עובדת|נשוי|נשואה|רווק|רווקה){_END}",
            rf"{_HE}אני (?:מורה|אחות|רופא|רופאה|מהנדס|מהנדסת|עורך דין|עורכת דין|סטודנט|סטודנטית|"
            rf"נהג|"
            rf"נהגת|מתכנת|מתכנתת|מעצב|מעצבת|טבח|טבחית|חקלאי|חקלאית|פנסיונר|פנסיונרית|עצמאי|עצמאית|"
            rf"גרפיקאי|גרפיקאית|רואה חשבון|פסיכולוג|פסיכולוגית|מנהל|מנהלת|שוטר|שוטרת){_END}",
            rf"{_HE}אני לא (?:שותה|אוכל|אוכלת|מעשן|מעשנת|נוהג|נוהגת){_END}",
            rf"{_HE}יש לי (?:\S+ )?(?:ילד|ילדה|ילדים|בנים|בנות|אחים|אחיות|חתול|חתולים|כלב|"
            rf"כלבים){_END}",
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
            rf"{_HE}ל?(?:אשתי|בעלי|אחי|אחותי|אמי|אבי|אימי|בני|בתי|דודי|דודתי|חברתי|הוריי|הורי|"
            rf"סבתי){_END}",
            rf"{_HE}[בלמ]?(?:ה?(?:אמא|אבא|סבא|סבתא|אח|אחות|בן|בת|בוס|מנהל|מנהלת|חבר|חברה|שכן|שכנה|"
            rf"שותף|שותפה|בן זוג|בת זוג|ילדים|הורים|אישה|בעל)) (?:הכי טוב(?:ה)? )?שלי{_END}",
        ),
    ),
    CategoryRule(
        "interests",
        (
            r"(?<!not )(?<!n't )(?<!less )\binterested in\b|\bpassionate about\b|\bfascinated by\b",
            rf"(?<!not a )(?<!not )\bobsessed with\b|\bis my thing\b|{_PERSON} (?:collect|knit|"
            rf"paint)s?\b",
            rf"{_PERSON} plays? (?:the )?(?:\w+ )?(?:guitar|bass|piano|violin|cello|drums|flute|"
            rf"chess|"
            r"tennis|football|basketball|padel|golf|squash|rugby|hockey|saxophone|ukulele)\b",
            r"\bmy (?:\w+ )?(?:hobby|hobbies|interests?|passions?)\b|\b(?:big|huge) fan of\b",
            rf"{_PERSON_IS}(?: really| very much)? into\b",
            rf"{_HE}(?:מתעניין|מתעניינת|מתעניינים){_END}|{_HE}בקטע של{_END}"
            rf"|{_HE}אני (?:מנגן|מנגנת|אוסף|אוספת|סורג|סורגת|מצייר|מציירת){_END}|{_HE}(?:התחביב|"
            rf"התחביבים|תחביבים){_END}",
        ),
    ),
    CategoryRule(
        "preferences",
        (
            rf"\b(?:i|we|they){_VERY} (?:like|love|hate|enjoy|adore|dislike|detest)\b(?! to know)",
            rf"\b(?:i|we|they) (?:don't|do not|didn't|did not){_VERY} (?:like|love|enjoy)\b",
            r"(?:\b(?:i|we|they) |^)(?:can't|cannot|can not|cant) stand\b",
            r"^(?:really |absolutely |just )?(?:love|like|hate|adore|enjoy|dislike) (?!to know)",
            r"\bnot (?:really )?(?:a |much of a )?(?:big )?fan of\b|\b(?:i|we)(?:'d|"
            r" would) rather\b",
            r"\b(?:works?|suits?) (?:best |better )?(?:for )?(?:me|us) best\b|"
            r"\b(?:works?|suits?) best for (?:me|us)\b|\bbest time for\b|\bbeliever in\b",
            r"\b(?:i|we) (?:usually|always|normally|mostly) (?:go for|order|pick|choose|take|"
            r"have)\b",
            r"\b(?:loves|hates|enjoys|dislikes|adores|detests)\b",
            r"\b(?:he|she|user)(?: really| also)? likes\b|\bdoesn't like\b|\bdoes not like\b",
            rf"{_HE}(?:אוהב|אוהבת|אוהבים|אוהבות|שונא|שונאת|שונאים|שונאות){_END}",
            rf"{_HE}לא (?:סובל|סובלת){_END}|{_HE}(?:עדיף|הכי נוח|נוח) לי{_END}|{_HE}מת(?:ה)? על ",
        ),
    ),
    CategoryRule(
        "projects",
        (
            r"\bgo(?:es|ing)? live\b|\b(?:renovation|redesign|migration|rollout|prototype)\b",
            r"\b(?:build|extension|conversion) is (?:about |nearly |almost )?(?:half )?(?:done|"
            r"finished)",
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
    plain = " ".join(text[:_CATEGORY_CHARACTERS].casefold().translate(APOSTROPHES).split())
    for category, pattern in _compiled_rules(_HEBREW_LETTER.search(plain) is not None):
        if pattern.search(plain):
            return category
    return None
