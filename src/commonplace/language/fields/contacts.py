"""Contact fields in a short text: name, role, phone, e-mail, description.

A text with a phone number or address may be a contact. All its other words must then be a name, a
role, a place or a label; otherwise it is prose.
"""

import re
from dataclasses import dataclass

from commonplace.language.fields.key_values import ValueType, value_type_of
from commonplace.language.fields.names import parse_english_role, parse_hebrew_role, parse_role
from commonplace.language.fields.phone_email import find_emails, find_phones
from commonplace.language.text.lexicon import load_word_lists
from commonplace.language.text.sentences import is_past

_LONGEST = 200
_NAME_WORDS = 5
_DETAIL_WORDS = 6
_LISTS = load_word_lists("fields/people.txt")
_PLACEHOLDER = "\ufffc"  # in place of a number or an address


@dataclass(frozen=True, slots=True)
class Contact:
    name: str
    role: str = ""
    description: str = ""
    phone: str = ""
    email: str = ""

    def fields(self) -> dict[str, str]:
        """The non-empty fields by their metadata names."""
        named = ("name", "role", "phone", "email", "description")
        return {name: value for name in named if (value := getattr(self, name))}


# ——— words around a number ———

_DEVICE_EN = (
    r"(?:(?:new|work|home|office|private|personal|direct|cell|mobile|phone|tel|telephone|whatsapp|"
    r"e-?mail|mail|fax|contact|number|no|line|address|details|info)\b\.?\s?)+"
)
_DEVICE_HE = (
    r"(?:ו?ה?(?:מספר|טלפון|טל|נייד|פלאפון|מייל|אימייל|דוא\"ל|דוא״ל|דואל|וואטסאפ|ווטסאפ|פקס|כתובת|חדש|"
    r"אישי|עבודה)(?![א-ת])'?\s?)+"
)
_IS = r"(?:\s*(?:is now|is|are|changed to|הוא|היא|[:=,–-]))*\s*"
_POSSESSIVE = r"(?:(?:and|or|his|her|their|the|on|at|by|via|tel|ו)\s)*"
_LABEL = re.compile(
    rf"{_POSSESSIVE}(?:my |our )?(?:{_DEVICE_EN}|{_DEVICE_HE}|at|on|and|or|או|ב){_IS}"
    rf"|ו?ה?(?:{_DEVICE_HE})(?:שלו|שלה|שלי){_IS}",
    re.IGNORECASE,
)
_LABEL_AT_END = re.compile(
    rf"\s+(?:at|on|{_POSSESSIVE}{_DEVICE_EN}|ב?{_DEVICE_HE}(?:של(?:ו|ה|הם))?){_IS}$", re.IGNORECASE
)
_WAY = rf"(?:at|on|by|via|under|through) (?:{_POSSESSIVE}{_DEVICE_EN}{_IS})?"
_REACH = (
    r"(?:reach|contact|call|ring|phone|text|message|e-?mail|find|get hold of|get in touch with)"
)
_WAY_HE = rf"ב-?\s?(?:{_DEVICE_HE}{_IS})?"
_REACH_HE = (
    r"(?:(?:אפשר|ניתן) (?:להשיג|לתפוס|לפנות|להתקשר|לדבר|לכתוב)|תתקשרי?|להתקשר|התקשרי? |תפנ[הי])"
    r"(?: (?:את|אל|עם) | ל-?)"
)
_OWNED = (
    re.compile(rf"(?P<who>.+?)(?:'s|s') {_DEVICE_EN}{_IS}(?={_PLACEHOLDER})", re.IGNORECASE),
    re.compile(
        rf"(?:the |this )?{_DEVICE_EN}(?:of|for) (?P<who>.+?){_IS}(?={_PLACEHOLDER})", re.IGNORECASE
    ),
    re.compile(
        rf"(?:(?:you|we) can |you'll |for [a-z ]+?,? |(?:(?:the )?best (?:way|number) )?to )?"
        rf"{_REACH} (?P<who>.+?),? (?:is )?(?:{_REACH} )?(?:{_WAY})?(?={_PLACEHOLDER})",
        re.IGNORECASE,
    ),
    re.compile(
        rf"(?P<who>.+?),? (?:can be (?:reached|contacted|found)|is (?:available|reachable)) {_WAY}"
        rf"(?={_PLACEHOLDER})",
        re.IGNORECASE,
    ),
    re.compile(rf"(?:{_DEVICE_HE}|פרטי ה?(?:קשר|התקשרות) )של (?P<who>.+?){_IS}(?={_PLACEHOLDER})"),
    re.compile(rf"{_REACH_HE}(?P<who>.+?),? {_WAY_HE}(?={_PLACEHOLDER})"),
    re.compile(rf"(?P<who>.+?),? (?:זמינה?|נית(?:ן|נת) להשגה) {_WAY_HE}(?={_PLACEHOLDER})"),
)
# "Ana: Email Dan at …": the speaker is not the contact.
_SPEAKER_PREFIX = re.compile(
    rf"(?P<speaker>[^:{_PLACEHOLDER}]{{1,40}}):\s+(?=(?:please |pls |you can |we can )?{_REACH}\b)",
    re.I,
)
_BETWEEN = re.compile(rf"[,;|•()\[\]]|\s[–—/-]\s|\s*:\s|\s*{_PLACEHOLDER}\s*")
_PROSE_CONTINUES = re.compile(rf"{_PLACEHOLDER}\s+(?=\w)(?!{_LABEL.pattern})", re.IGNORECASE)

_ANNOUNCED = re.compile(
    r"(?:a )?(?:(?:new|emergency|business|work) )?contact(?: (?:details|info))?\s*[:–,-]+\s*"
    rf"|contact (?:for|at) (?:the|our|my) [^:{_PLACEHOLDER}]+:\s*(?!{_PLACEHOLDER})"
    r"|אי?שת? קשר(?: חדשה?)?\s*[:–,-]*\s*"
    r"|(?:ל|ב)אנשי הקשר(?: שלי)?,?(?: את)?\s+|לספר הטלפונים(?: את)?\s+",
    re.IGNORECASE,
)
_TO_CONTACTS = re.compile(
    r"\s+(?:to|in|as)(?: my| the| our| a)? contacts?(?: list)?\b|\s+(?:ל|ב)אנשי הקשר(?: שלי)?",
    re.IGNORECASE,
)

# ——— words around a name ———

_ARTICLE = re.compile(r"^(?:the|my|our|a|an)\s+", re.IGNORECASE)
_NAMED_ROLE = re.compile(r"(?P<name>.+?),? (?:the|our|my) (?P<role>\w[\w -]*)", re.IGNORECASE)
_IS_ROLE = re.compile(r"(?P<name>.+?) is (?:my|our|the|an?) (?P<role>\w[\w -]*)", re.IGNORECASE)
_ROLE_NAMED = re.compile(
    r"(?P<role>[\w' -]+?)(?: (?:we|i) (?:use|have))?(?:'s name is| is called| is| named| called)? "
    r"(?P<name>[A-Z]\w*\.?(?: \S+)*)"
)
_SOMEBODY_WHO = re.compile(r"(?:the |our |my )?(?:guy|man|woman|lady|person|one) who .+", re.I)
_FROM = re.compile(r"(?P<name>\S+(?: \S+){0,2}?) (?P<description>(?:from|at|in) .+)")
_HEBREW_FROM = re.compile(
    r"(?P<name>\S+(?: \S+){0,3}?) (?P<description>(?:מה[א-ת]{3}|ממ[א-ת]{3}|מ-|מ[A-Za-z]"
    rf"|מ(?:{'|'.join(sorted(_LISTS['he place']))})(?![א-ת]))\S*(?: \S+)*)"
)
_HEBREW_CALLED = re.compile(r"ל(?P<role>\S.*?) קוראים (?P<name>\S.*)")
_HEBREW_LINKS = ("הוא", "היא", "נקרא", "נקראת", "בשם")
_HEBREW = re.compile("[א-ת]")
_HEBREW_VERB = re.compile("[א-ת]{3,}תי|הת[א-ת]{3,}")  # קיבלתי, התקשרה
_TRAILING_PREPOSITIONS = ("to", "from", "for", "by", "of", "with", "at", "in", "on")


def parse_contact(text: str, asked: bool = False) -> Contact | None:
    """The contact that a text describes; None if it is something else.

    `asked`: the caller gives the kind, so that a name alone is enough.
    """
    if len(text) > _LONGEST or text.endswith("?"):
        return None
    phones, emails = find_phones(text), find_emails(text)
    bare = text
    for found in sorted((*phones, *emails), key=lambda one: -one.start):
        bare = f"{bare[: found.start]}{_PLACEHOLDER}{bare[found.end :]}"
    announced = _ANNOUNCED.match(bare)
    bare = _TO_CONTACTS.sub("", bare[announced.end() :] if announced else bare, count=1)
    if not (phones or emails or announced or asked) or _PROSE_CONTINUES.search(bare):
        return None
    if max(len(phones), len(emails)) > 1 and _names_between(bare):
        return None
    read = _parse_person(bare)
    # "my plumber" needs a number or an address.
    if read is None or (_is_role(read.name) and not (phones or emails)):
        return None
    return Contact(
        name=read.name,
        role=read.role,
        description=read.description,
        phone=phones[0].text if phones else "",
        email=emails[0].text if emails else "",
    )


def _names_between(bare: str) -> bool:
    """Whether words other than labels are between two numbers: a second person."""
    between = bare.split(_PLACEHOLDER)[1:-1]
    return any(_piece(piece) for part in between for piece in _BETWEEN.split(part))


def _parse_person(bare: str) -> Contact | None:
    """Name, role and description in a text with placeholders for numbers and addresses."""
    speaker_prefix = _SPEAKER_PREFIX.match(bare)
    if speaker_prefix and not parse_role(speaker_prefix["speaker"]):
        bare = bare[speaker_prefix.end() :]
    who, rest = None, bare
    for pattern in _OWNED:
        owned = pattern.match(bare)
        if owned:
            who, rest = owned["who"], bare[owned.end() :]
            break
    pieces = [
        piece for piece in map(_piece, _BETWEEN.split(f"{who or ''}{_PLACEHOLDER}{rest}")) if piece
    ]
    if not pieces:
        return None
    if len(pieces) > 1 and parse_role(pieces[0]) and not parse_role(pieces[1]):
        pieces[:2] = pieces[1::-1]  # "plumber: Yossi"
    who, *details = pieces
    if len(details) > 3 or not all(map(_is_detail, details)):
        return None
    return _with_details(_parse_name(who.strip(" ,:-")), details)


def _piece(written: str) -> str:
    """One part of a listing without labels; empty if it is only a label."""
    bare = written.strip(" \t\n.,:;–-'\"")
    if _LABEL.fullmatch(bare):
        return ""
    return _LABEL_AT_END.sub("", f"{bare} ".rstrip()).strip()


def _with_details(person: Contact, pieces: list[str]) -> Contact | None:
    description = person.description
    if (
        not _is_name(person.name)
        or not _is_detail(description)
        or any(map(str.isdigit, description))
    ):
        return None
    details = [parse_role(piece) or _ARTICLE.sub("", piece) for piece in pieces]
    role = person.role or (details.pop(0) if details and _describes_role(details[0]) else "")
    described = [one for one in (person.description, *details) if one]
    return Contact(name=person.name, role=role, description=", ".join(described))


def _parse_name(name_text: str) -> Contact:
    """A name with its description: "Sam the electrician", "Priya in HR"."""
    if _HEBREW.search(name_text):
        return _parse_hebrew_name(name_text)
    found = _FROM.fullmatch(name_text)
    if found and len(found["description"].split()) <= _DETAIL_WORDS:
        named = _with_role(found["name"])
        return Contact(name=named.name, role=named.role, description=found["description"])
    return _with_role(name_text)


def _with_role(name_text: str) -> Contact:
    for pattern in (_IS_ROLE, _NAMED_ROLE):
        found = pattern.fullmatch(name_text)
        if found:
            return Contact(name=_ARTICLE.sub("", found["name"]), role=found["role"])
    found = _ROLE_NAMED.fullmatch(name_text)
    role = parse_english_role(found["role"]) if found else ""
    if found and role:
        return Contact(name=found["name"], role=role)
    return Contact(name=_ARTICLE.sub("", name_text))


def _parse_hebrew_name(name_text: str) -> Contact:
    """A name with its description: «דנה מהבנק», «יוסי השרברב», «הגנן שלנו הראל»."""
    found = _HEBREW_FROM.fullmatch(name_text)
    if found:
        named = _hebrew_with_role(found["name"])
        return Contact(name=named.name, role=named.role, description=found["description"])
    return _hebrew_with_role(name_text)


def _hebrew_with_role(name_text: str) -> Contact:
    called = _HEBREW_CALLED.fullmatch(name_text)
    if called and parse_role(called["role"]):
        return Contact(name=called["name"], role=parse_role(called["role"]))
    words = name_text.removeprefix("קוראים ל").split()
    first = parse_hebrew_role(words)
    if first:
        name = first.rest[1:] if first.rest[:1] and first.rest[0] in _HEBREW_LINKS else first.rest
        if name:
            return Contact(name=" ".join(name), role=first.role)
        return Contact(name=name_text)
    for at in range(1, len(words)):
        last = parse_hebrew_role(words[at:])
        if last and not last.rest and _is_no_surname(words[at:]):
            return Contact(name=" ".join(words[:at]), role=last.role)
    return Contact(name=name_text)


def _is_no_surname(role: list[str]) -> bool:
    """Whether the words after a name are a role: נגר and חייט alone are also surnames."""
    return len(role) > 1 or role[0].startswith("ה")


def _is_name(name: str) -> bool:
    """Whether the words can only be the name of a person or a business."""
    words = name.split()
    if not 1 <= len(words) <= _NAME_WORDS or any(letter.isdigit() for letter in name):
        return False
    if not any(letter.isalpha() for letter in name) or _is_prose(words):
        return False
    if words[0].casefold() in _TRAILING_PREPOSITIONS:  # "For refunds", "To cancel"
        return False
    small = name == name.lower()  # Hebrew has no capitals
    return not (small and value_type_of(name) in (ValueType.CODE, ValueType.AMOUNT, ValueType.DATE))


def _is_role(words: str) -> bool:
    return words.casefold() in _LISTS["en role"] | _LISTS["he role"]


def _describes_role(piece: str) -> bool:
    """Whether a piece is a role; capitalised it is a place: "Acme Corp"."""
    return not piece[0].isupper() or bool(parse_role(piece)) or any(map(_is_role, piece.split()))


def _is_detail(piece: str) -> bool:
    if _SOMEBODY_WHO.fullmatch(piece):
        return True
    return len(piece.split()) <= _DETAIL_WORDS and not _is_prose(piece.split())


def _is_prose(words: list[str]) -> bool:
    """Whether the words are from a sentence; almost any capitalised word may be a name."""
    if not words:
        return False
    small = [word.strip("'\".") for word in words if word == word.lower()]
    return (
        any(word in _LISTS["en sentence"] or word in _LISTS["he sentence"] for word in small)
        or words[0].casefold() in _LISTS["en opener"]
        or words[-1] in _TRAILING_PREPOSITIONS
        or any(is_past(word) for word in small if word.isascii())
        or any(_HEBREW_VERB.fullmatch(word) for word in words)
    )
