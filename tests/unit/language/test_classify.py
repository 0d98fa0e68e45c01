"""What kind of memory a text is when nobody says, in English and Hebrew."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.language.fields.classify import classify, extract_fields, strip_trigger
from commonplace.model.memory.kinds import Kind

VALUES = [
    ("my blood type is A+", "blood type", "A+"),
    ("electricity bill is 500", "electricity bill", "500"),
    ("The wifi password is now tulip43", "wifi password", "tulip43"),
    ("The rent is 4800 now.", "rent", "4800"),
    ("The wifi password is Popcorn!77", "wifi password", "Popcorn!77"),
    ("the code to the gate is 4821#", "code to the gate", "4821#"),
    ("my sister's shoe size is 38", "sister's shoe size", "38"),
    ("dentist appointment is on March 3 at 10:00", "dentist appointment", "March 3 at 10:00"),
    ("my address is 5 Herzl St, Tel Aviv", "address", "5 Herzl St, Tel Aviv"),
    ("the capital of France is Paris", "capital of France", "Paris"),
    ("parking costs 20 shekels an hour", "parking", "20 shekels an hour"),
    ("12345 is the door code", "door code", "12345"),
    ("account number is 12-345-678901", "account number", "12-345-678901"),
    ("my favourite film is The Matrix", "favourite film", "The Matrix"),
    ("my phone number is 052-1234567", "phone number", "052-1234567"),
    ("PIN 4321", "PIN", "4321"),
    ("blood type: O-", "blood type", "O-"),
    ("הסיסמה לוויי-פיי היא tulip42", "הסיסמה לוויי-פיי", "tulip42"),
    ("חשבון החשמל הוא 500", "חשבון החשמל", "500"),
    ("סוג הדם שלי הוא A+", "סוג הדם שלי", "A+"),
    ("שכר הדירה עלה ל-5200", "שכר הדירה", "5200"),
    ("דמי ועד הבית 250 שקל בחודש", "דמי ועד הבית", "250 שקל בחודש"),
    ("קוד לדלת 1234#", "קוד לדלת", "1234#"),
    ("ריבית המשכנתא היא 4.5%", "ריבית המשכנתא", "4.5%"),
    ("הכתובת שלי היא הרצל 5, תל אביב", "הכתובת שלי", "הרצל 5, תל אביב"),
]

CONTACTS = [
    (
        "Dana from the bank, 052-1234567",
        {"name": "Dana", "phone": "052-1234567", "description": "from the bank"},
    ),
    ("Dana's number is 052-1234567", {"name": "Dana", "phone": "052-1234567"}),
    ("my mom's number is 052-1234567", {"name": "mom", "phone": "052-1234567"}),
    ("Yossi the plumber 052-1234567", {"name": "Yossi", "role": "plumber", "phone": "052-1234567"}),
    ("plumber: Yossi 052-1234567", {"name": "Yossi", "role": "plumber", "phone": "052-1234567"}),
    (
        "my dentist is Dr. Cohen, 03-5551234",
        {"name": "Dr. Cohen", "role": "dentist", "phone": "03-5551234"},
    ),
    (
        "Dana Levi (accountant) dana@levi.com",
        {"name": "Dana Levi", "role": "accountant", "email": "dana@levi.com"},
    ),
    ("you can reach Karim at karim@x.org", {"name": "Karim", "email": "karim@x.org"}),
    ("Here's Avi's number: 050-5556677", {"name": "Avi", "phone": "050-5556677"}),
    (
        "emergency contact: Ruth Cohen 052-7778899",
        {"name": "Ruth Cohen", "phone": "052-7778899"},
    ),
    (
        "Jane Smith | Acme Corp | jane@acme.example",
        {"name": "Jane Smith", "email": "jane@acme.example", "description": "Acme Corp"},
    ),
    ("My sister Noa, noa@x.org", {"name": "Noa", "role": "sister", "email": "noa@x.org"}),
    ("Pizza Hut 03-1234567", {"name": "Pizza Hut", "phone": "03-1234567"}),
    (
        "דנה מהבנק 052-1234567",
        {"name": "דנה", "phone": "052-1234567", "description": "מהבנק"},
    ),
    ("יוסי השרברב 052-1234567", {"name": "יוסי", "role": "שרברב", "phone": "052-1234567"}),
    ("המספר של יוסי הוא 052-1234567", {"name": "יוסי", "phone": "052-1234567"}),
    ('הטלפון של ד"ר כהן: 03-5551234', {"name": 'ד"ר כהן', "phone": "03-5551234"}),
]

# Who it is, said in other ways: name and role, whatever stands around them.
PEOPLE = [
    ("Ring Tina the florist at 415-555-0177", "Tina", "florist"),
    ("Text Joe (handyman) on 646 555 0143", "Joe", "handyman"),
    ("You can call our lawyer Simon Katz at +1 617 555 0119", "Simon Katz", "lawyer"),
    ("For plumbing call Joe Stein on 646-555-0171", "Joe Stein", ""),
    ("my dentist, Dr. Omar Haddad: 212-555-0161", "Dr. Omar Haddad", "dentist"),
    ("The cook, Ann Lee, can be reached at 503-555-0111 or ann@lee.example", "Ann Lee", "cook"),
    ("The new cleaner is Svetlana, mobile 07700 900456", "Svetlana", "cleaner"),
    ("insurance agent: Paul Grant, paul@grant.example", "Paul Grant", "insurance agent"),
    ("The electrician's name is Bill Norton, 020 7946 0444", "Bill Norton", "electrician"),
    ("My physio is called Anna Berg and her number is 07700 900333", "Anna Berg", "physio"),
    ("Dr Chen, cardiologist, tel. 020 7946 0222", "Dr Chen", "cardiologist"),
    ("Best way to reach Otto is 07700 900222", "Otto", ""),
    ("Luca's dad is Marco, 07700 900321", "Marco", "Luca's dad"),
    ("Pat Kim / florist / pat@kim.example", "Pat Kim", "florist"),
    ("contact for the venue: Lily Adams, lily@venue.example", "Lily Adams", ""),
    ("השרברב שלנו, מרקו רוזן, 052-9460331", "מרקו רוזן", "שרברב"),
    ("אפשר להשיג את תמר הפיזיותרפיסטית בטלפון 03-5550177", "תמר", "פיזיותרפיסטית"),
    ('רופאת השיניים שלי היא ד"ר ליאת שחר, 04-8881234', 'ד"ר ליאת שחר', "רופאת השיניים"),
    ("המנקה החדשה סבטלנה, נייד 050-3334444", "סבטלנה", "מנקה"),
    ("ג'ו (הנדימן) 054-5550143", "ג'ו", "הנדימן"),
    ("עורך הדין שלנו סימון כץ, simon@katz.example", "סימון כץ", "עורך הדין"),
    ("רואה החשבון שלי הוא דרור מור, dror@mor.example", "דרור מור", "רואה החשבון"),
    ("לחשמלאי קוראים בני נורמן, הטלפון שלו 050-7940444", "בני נורמן", "חשמלאי"),
    ("תתקשר לפאטמה האחות ב-03-5550102", "פאטמה", "אחות"),
    ("יוסי המתווך ממשרד רימקס: 054-7778899", "יוסי", "מתווך"),
    ("הווטרינרית חנה לב, טלפון 09-7654321", "חנה לב", "וטרינרית"),
    ("מוטי טכנאי מזגנים 050-4445566", "מוטי", "טכנאי מזגנים"),
    ("מוטי נגר 050-4445566", "מוטי נגר", ""),
    ("השכנה מלמעלה היא סנדרה, 054-9006540", "סנדרה", "שכנה"),
    ("הספר שלי הוא שמעון והטלפון שלו 03-5101010", "שמעון", "ספר"),
    ("פרטי הקשר של דנה שמש: 052-3213213, dana@shemesh.example", "דנה שמש", ""),
    ("ניתן לפנות לדייגו במייל diego@studio.example", "דייגו", ""),
]

NO_FIELDS = [
    "the meeting is important",
    "the price is too high",
    "the password is weak",
    "The code is not 1234",
    "I think the code is 1234",
    "Dana said the code is 1234",
    "Is the code 1234?",
    "The door code is 1234, but it changes every month",
    "The wifi password is tulip42. The router is in the hall. Dana set it up.",
    "The spare keys are in the blue drawer",
    "My goal is to run a marathon",
    "Dana is 34 years old",
    "Tel Aviv is 60 km away",
    "Lunch was 50 shekels",
    "Recipe: 3 eggs",
    "remember to buy milk",
    "I got a call from 052-1234567",
    "Call Dana at 052-1234567 tomorrow",
    "Lunch with Dana at 12:30, her number is 052-1234567",
    "Dana 052-1234567 and Yossi 054-7654321",
    "Sent the invoice to billing@acme.example",
    "קיבלתי מייל מ-info@corp.example",
    "052-1234567",
    "הפגישה חשובה",
    "I tried calling Ray the locksmith on 0161 496 0221 and nobody answered",
    "The new babysitter is great with the kids",
    "Message from Dana on 052-1234567: running late",
    "To cancel the subscription, email stop@news.example",
    "For refunds email refunds@shop.example",
    "אפשר להשיג כרטיסים במייל tickets@show.example",
    "ניתן להתקשר לביטול העסקה ב-03-5550100",
    "Call me at 052-1234567",
    "Call 020 7946 0999 to confirm the booking",
    "Do not answer 212-555-0100, it is a scam",
    "רואה החשבון שלי הוא אדם מצחיק",
    "התקשרו אליי ממספר 03-5550190 וניתקו",
    "לא לענות ל-03-5550100, זו הונאה",
    "הקוד לא עובד",
    "מחיר הדירה גבוה מדי",
    "אני חושב שהבעיה היא הכסף",
    "מזג האוויר היום הוא 30 מעלות",
    "מה הקוד לדלת?",
    "The password is " + "very " * 200 + "long",
]

TRIGGERS = [
    ("Remember that Dana likes tea", "Dana likes tea"),
    ("please note that Dana likes tea", "Dana likes tea"),
    ("Don’t forget that Dana likes tea", "Dana likes tea"),
    ("Can you remember that Dana likes tea?", "Dana likes tea"),
    ("Save this: Dana likes tea", "Dana likes tea"),
    ("FYI Dana likes tea", "Dana likes tea"),
    ("תזכור שדנה אוהבת תה", "דנה אוהבת תה"),
    ("תזכרי בבקשה שדנה אוהבת תה", "דנה אוהבת תה"),
    ("תרשום: דנה אוהבת תה", "דנה אוהבת תה"),
    ("אל תשכח שדנה אוהבת תה", "דנה אוהבת תה"),
]

NO_TRIGGERS = [
    "Remember to buy milk",
    "Remember when we went to Rome?",
    "Save money on rent",
    "Remember that summer in Rome",
    "Add salt and stir",
    "Notes from the meeting",
    "תזכור שלום לסבתא",
    "Remember",
    "remember that",
]


@pytest.mark.parametrize(("text", "subject", "value"), VALUES)
def test_classify_reads_subject_and_value_of_a_kv(text: str, subject: str, value: str) -> None:
    found = classify(text)
    assert (found.kind, found.metadata) == (Kind.KV, {"subject": subject, "value": value})


@pytest.mark.parametrize(("text", "fields"), CONTACTS)
def test_classify_reads_contact_fields(text: str, fields: dict[str, str]) -> None:
    found = classify(text)
    assert (found.kind, found.metadata) == (Kind.CONTACT, fields)


@pytest.mark.parametrize(("text", "name", "role"), PEOPLE)
def test_classify_reads_name_and_role_of_a_contact(text: str, name: str, role: str) -> None:
    found = classify(text)
    assert found.kind is Kind.CONTACT
    assert (found.metadata["name"], found.metadata.get("role", "")) == (name, role)


@pytest.mark.parametrize("text", NO_FIELDS)
def test_classify_reads_no_fields_where_they_are_uncertain(text: str) -> None:
    found = classify(text)
    assert found.kind not in (Kind.CONTACT, Kind.KV)
    assert (found.metadata, found.content) == ({}, text)


@pytest.mark.parametrize(("text", "content"), TRIGGERS)
def test_classify_strips_remember_triggers(text: str, content: str) -> None:
    assert classify(text).content == content


@pytest.mark.parametrize("text", NO_TRIGGERS)
def test_strip_trigger_keeps_ordinary_sentences(text: str) -> None:
    assert strip_trigger(text).content == text
    assert classify(text).content == text


@pytest.mark.parametrize("text", [text for text, *_ in VALUES] + [text for text, _ in CONTACTS])
def test_classify_ignores_a_polite_trigger(text: str) -> None:
    asked = classify(f"Please remember that {text}")
    assert asked == classify(text)


@pytest.mark.parametrize(
    ("kind", "text", "fields"),
    [
        (Kind.CONTACT, "Dan the plumber", {"name": "Dan", "role": "plumber"}),
        (Kind.KV, "the door is green", {"subject": "door", "value": "green"}),
        (Kind.CONTACT, "my plumber", {}),
        (Kind.CONTACT, "Somebody told me to call the garage", {}),
        (Kind.KV, "Dana likes tea", {}),
        (Kind.FACT, "the door code is 1234", {}),
    ],
)
def test_extract_fields_accepts_weaker_evidence_for_a_given_kind(
    kind: Kind, text: str, fields: dict[str, str]
) -> None:
    assert extract_fields(kind, text) == fields


@given(st.text(max_size=450))
def test_classify_returns_a_consistent_kind_for_any_text(text: str) -> None:
    found = classify(text)
    assert found.content in text
    assert bool(found.metadata) == (found.kind in (Kind.CONTACT, Kind.KV))
    assert all(found.metadata.values())


subjects = st.sampled_from(["wifi password", "gate code", "locker combination", "alarm PIN"])
codes = st.from_regex(r"[A-Za-z]{2,6}[0-9]{2,6}[#!]?", fullmatch=True)


@given(subjects, codes)
def test_classify_keeps_codes_verbatim(subject: str, code: str) -> None:
    """Case and signs count in secrets."""
    assert classify(f"the {subject} is {code}").metadata == {"subject": subject, "value": code}
