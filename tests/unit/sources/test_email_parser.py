"""E-mail: what its writer wrote comes out, whatever the program that sent it did."""

from datetime import UTC, datetime

import pytest

from commonplace.engine.sources.formats.email_body import cut_quotes, cut_signature
from commonplace.engine.sources.formats.html import html_to_text
from commonplace.engine.sources.formats.parse import parse_source
from commonplace.model.sources.source import ContentType, ContextType

HEAD = "From: Ana Cohen <ana@x.org>\nTo: dan@x.org\nSubject: Rome\n"


def mail(body, headers=""):
    return parse_source(HEAD + headers + "\n" + body, format="email")


def text_of(body, headers=""):
    return mail(body, headers).turns[0].text


def test_email_parser_reads_headers_into_one_turn_of_the_sender():
    reading = parse_source(
        'From: "Cohen, Ana" <ana@x.org>\n'
        "To: Dan Levi <dan@x.org>, noa@x.org\n"
        "Cc: =?utf-8?b?15nXldeh15k=?= <yossi@x.org>; 'Max' <max@x.org>\n"
        "Subject: =?utf-8?q?Caf=C3=A9_in?= =?utf-8?q?_Rome?=\n"
        "Date: Sun, 1 Mar 2026 14:00:00 +0200\n"
        "Message-ID: <m2@x.org>\nIn-Reply-To: <m1@x.org>\nReferences: <m0@x.org>\n <m1@x.org>\n"
        "\nLet us go.\n"
    )
    noon = datetime(2026, 3, 1, 12, tzinfo=UTC)
    (turn,) = reading.turns
    assert (turn.text, turn.speaker, turn.at, turn.label) == (
        "Let us go.",
        "Cohen, Ana",
        noon,
        "m2@x.org",
    )
    assert reading.title == "Café in Rome"
    assert reading.participants == ("Cohen, Ana", "Dan Levi", "noa@x.org", "יוסי", "Max")
    assert reading.external_id == "m2@x.org"
    assert reading.started_at == reading.ended_at == noon
    assert reading.provenance["in_reply_to"] == "m1@x.org"
    assert reading.provenance["references"] == ["m0@x.org", "m1@x.org"]
    assert reading.provenance["addresses"]["Dan Levi"] == "dan@x.org"
    assert reading.content_type is ContentType.EMAIL
    assert reading.context_type is ContextType.EMAIL_THREAD


@pytest.mark.parametrize(
    ("charset", "text"),
    [
        ("utf-8", "שלום, café"),
        ("windows-1255", "שלום לכולם"),
        ("iso-8859-8-i", "שלום לכולם"),
        ("iso-8859-1", "Grüße aus Köln"),
        ("koi8-r", "Привет всем"),
        ("gb2312", "你好"),
        ("shift_jis", "こんにちは"),
    ],
)
def test_email_parser_reads_declared_charsets(charset, text):
    codec = "iso-8859-8" if charset == "iso-8859-8-i" else charset
    raw = f"{HEAD}Content-Type: text/plain; charset={charset}\n\n".encode() + text.encode(codec)
    assert parse_source(raw).turns[0].text == text


@pytest.mark.parametrize(
    ("declared", "really", "text"),
    [
        ("no-such-charset", "utf-8", "שלום"),
        ("us-ascii", "utf-8", "café"),
        ("utf-8", "cp1252", "café noir"),
        ("utf-8", "cp1255", "שלום לכולם"),
        ("rot13", "utf-8", "hello"),
    ],
)
def test_email_parser_recovers_from_a_wrong_charset(declared, really, text):
    raw = f"{HEAD}Content-Type: text/plain; charset={declared}\n\n".encode() + text.encode(really)
    assert parse_source(raw).turns[0].text == text


ALTERNATIVE = (
    "Content-Type: multipart/alternative; boundary=b\n\n"
    "--b\nContent-Type: text/html\n\n<p>As <b>HTML</b></p>\n"
    "--b\nContent-Type: text/plain\n\n{plain}\n--b--\n"
)


def test_email_parser_prefers_the_plain_part_unless_empty():
    assert parse_source(HEAD + ALTERNATIVE.format(plain="As text")).turns[0].text == "As text"
    assert parse_source(HEAD + ALTERNATIVE.format(plain="  ")).turns[0].text == "As HTML"


def test_email_parser_lists_attachments_without_reading_them():
    reading = parse_source(
        HEAD + "Content-Type: multipart/mixed; boundary=b\n\n"
        "--b\nContent-Type: text/plain\n\nSee the file.\n"
        '--b\nContent-Type: text/plain; name="=?utf-8?q?caf=C3=A9.txt?="\n'
        "Content-Disposition: attachment\n\nSECRET\n"
        "--b\nContent-Type: message/rfc822\n\nSubject: inner\n\nINNER\n--b--\n"
    )
    assert reading.turns[0].text == "See the file."
    assert reading.provenance["attachments"] == ["café.txt", "message/rfc822"]


def test_email_parser_uses_the_subject_for_an_empty_body():
    assert [turn.text for turn in mail("\n \n").turns] == ["Rome"]
    assert parse_source("From: a@x.org\nTo: b@x.org\n\n", format="email").turns == ()


def test_email_parser_reads_a_body_with_wrong_boundaries():
    headers = "Content-Type: multipart/mixed; boundary=right\n"
    assert text_of("--wrong\nContent-Type: text/plain\n\nHello\n--wrong--\n", headers) == "Hello"


def test_email_parser_joins_flowed_lines():
    headers = "Content-Type: text/plain; format=flowed\n"
    assert text_of("This is one \nsentence.\n\n-- \nAna\n", headers) == "This is one sentence."


# Quotations

QUOTED = [
    "On Sun, 1 Mar 2026 at 10:00, Dan Levi <dan@x.org> wrote:\n\n> When?\n> Where?",
    "On Mar 1, 2026, at 10:00 AM, Dan Levi\n<dan@x.org>\nwrote:\n\n> When?",
    "Am 01.03.2026 um 10:00 schrieb Dan Levi <dan@x.org>:\n> Wann?",
    "Le dim. 1 mars 2026 à 10:00, Dan <dan@x.org> a écrit :\n> Quand ?",
    "El dom, 1 mar 2026 a las 10:00, Dan (<dan@x.org>) escribió:\n\n> ¿Cuándo?",
    "‫בתאריך יום א׳, 1 במרץ 2026 ב-10:00 מאת ‪Dan Levi‬‏ <‪dan@x.org‬‏>:‬\n> מתי?",
    "ב-1 במרץ 2026, בשעה 10:00, דן לוי <dan@x.org> כתב:\n> מתי?",
    '01.03.2026, 10:00, "Dan" <dan@x.org>:\n> When?',
    "-----Original Message-----\nFrom: Dan\nSent: Sunday\nTo: Ana\nSubject: Rome\n\nWhen?",
    "____________________\nFrom: Dan <dan@x.org>\nSent: Sunday\nTo: Ana\nSubject: Rome\n\nWhen?",
    "From: Dan\nDate: Sunday\nSubject: Rome\nTo: Ana\n\nWhen?",
    "מאת: דן\nנשלח: יום ראשון\nאל: ענת\nנושא: רומא\n\nמתי?",
    "Von: Dan\nGesendet: Sonntag\nAn: Ana\nBetreff: Rom\n\nWann?",
    "On 1 March 2026 Dan Levi wrote:\n\nWhen shall we meet?\nWhere?",
    "> When?\n> Where?",
    "Dan Levi writes:\n\n> When?",
    "------- Original Message -------\nOn Sunday, March 1st at 10:00, Dan wrote:\n\n> When?",
]


@pytest.mark.parametrize("quoted", QUOTED)
def test_email_parser_cuts_quoted_replies(quoted):
    assert text_of(f"Let us go.\n\nIn May.\n\n{quoted}\n") == "Let us go.\n\nIn May."


def test_email_parser_keeps_inline_answers():
    body = "On 1/3/2026 10:00 Dan wrote:\n> When?\n\nIn May.\n\n> Where?\n\nIn Rome.\n"
    assert text_of(body).split() == ["In", "May.", "In", "Rome."]


@pytest.mark.parametrize(
    "body",
    [
        "On your machine run this:\n\n    ls\n\nIt should work.",
        "On 3 May we wrote: nothing, because nobody asked.",
        "From: the bottom of my heart, thank you.",
        "To: do\nFrom: nobody",
        "The meeting is at 10:30:\nbring the plan.",
    ],
)
def test_cut_quotes_keeps_text_that_resembles_a_quotation(body):
    assert cut_quotes(body) == body


def test_email_parser_keeps_forwarded_text_and_drops_replied_text():
    body = (
        "Please look.\n\n---------- Forwarded message ---------\nFrom: Dan\nDate: Sunday\n"
        "Subject: Offer\nTo: Ana\n\nWe offer 500."
    )
    assert [turn.text for turn in mail(body).turns] == ["Please look.", "We offer 500."]
    pasted = "See below.\n\nFrom: Dan\nSent: Sunday\nTo: Ana\nSubject: Offer\n\nWe offer 500."
    forwarded, answered = (
        [
            turn.text
            for turn in parse_source(f"Subject: {sign}: Offer\n\n{pasted}", format="email").turns
        ]
        for sign in ("Fwd", "Re")
    )
    assert forwarded == ["See below.", "We offer 500."]
    assert answered == ["See below."]


@pytest.mark.parametrize(
    ("sign", "date"),
    [
        ("---------- Forwarded message ---------", "Mon, 13 Apr 2026 at 09:00"),
        ("Begin forwarded message:\n", "Monday, April 13, 2026 9:00 AM"),
        ("---------- Forwarded message ---------", "Mon, Apr 13, 2026 at 9:00 AM"),
        ("-----Original Message-----", "Mon, 13 Apr 2026 09:00:00 +0000"),
        ("", "13 April 2026 09:00"),
    ],
)
def test_email_parser_attributes_a_forwarded_message_to_its_sender_and_date(sign, date):
    body = (
        f"Look at this!\n\n{sign}\nFrom: Omri Katz <omri@katz.example>\nDate: {date}\n"
        "Subject: My new job\nTo: Ana Cohen <ana@x.org>\n\nI started at Nvidia.\n\nOmri"
    )
    reading = parse_source(HEAD.replace("Rome", "Fwd: My new job") + "\n" + body, format="email")
    own, forwarded = reading.turns
    assert (own.speaker, own.text) == ("Ana Cohen", "Look at this!")
    assert (forwarded.speaker, forwarded.at) == ("Omri Katz", datetime(2026, 4, 13, 9, tzinfo=UTC))
    assert forwarded.text.startswith("I started at Nvidia.")
    assert reading.provenance["addresses"]["Omri Katz"] == "omri@katz.example"


def test_email_parser_splits_nested_forwarded_messages_by_sender():
    body = (
        "See below.\n\n---------- Forwarded message ---------\nFrom: Dan\nDate: Sunday\n"
        "Subject: Offer\nTo: Ana\n\nI am for it.\n\n---------- Forwarded message ---------\n"
        "From: Noa\nDate: Saturday\nSubject: Offer\nTo: Dan\n\nWe offer 500."
    )
    told = [(turn.speaker, turn.text) for turn in mail(body).turns]
    assert told == [
        ("Ana Cohen", "See below."),
        ("Dan", "I am for it."),
        ("Noa", "We offer 500."),
    ]


def test_email_parser_keeps_a_body_of_quotation_only():
    assert text_of("> When?\n> Where?") == "When?\nWhere?"


# Signatures


@pytest.mark.parametrize(
    "signature",
    [
        "-- \nAna Cohen\nCTO, Acme",
        "--\nAna",
        "Sent from my iPhone",
        "Sent from Outlook for Android",
        "Get Outlook for iOS<https://aka.ms/o0ukef>",
        "נשלח מה-iPhone שלי",
        "Von meinem iPhone gesendet",
        "Best regards,\nAna Cohen",
        "Kind regards,\n\nAna Cohen\nCTO | Acme\n+972 52-123-4567\nwww.acme.example",
        "Thanks,\nAna Cohen\nana@acme.example\n+972 52-123-4567",
        "בברכה,\nענת כהן\n052-1234567",
        "-Ana Cohen",
        "_______________________________________________\nrome mailing list\nrome@lists.x.org",
        "Sincerely,\nAna\n\nSent from my phone",
        "בתודה,\nענת",
        "Many thanks and best regards,\nAna",
        "Ana Cohen\nCTO, Acme\nana@acme.example | +1 415 555 0132",
        "Best,\nAna\n\nConfidentiality notice: this mail is for you alone. Delete it otherwise.",
        "This e-mail and any attachments are confidential and intended only for the addressee.",
    ],
)
def test_email_parser_cuts_signatures_and_footers(signature):
    assert text_of(f"Let us go.\n\nIn May.\n\n{signature}\n") == "Let us go.\n\nIn May."


@pytest.mark.parametrize(
    "body",
    [
        "Thanks,\nAlex",
        "A fix -- this is not a signature.\n\nBye",
        "Sent from my desk, it is much easier.",
        "Best, in my view, is the second one.",
        "The list:\n\n- milk\n- eggs",
        "Call me: +972 52-123-4567",
        "Regards are due to everybody who helped us.\nWe met at noon.",
        "--\n" + "\n".join(f"Line {n} of a long text." for n in range(20)),
    ],
)
def test_cut_signature_keeps_text_that_resembles_a_signature(body):
    assert cut_signature(body) == body


def test_cut_signature_keeps_a_body_of_signature_only():
    assert cut_signature("Sent from my iPhone") == "Sent from my iPhone"


# HTML


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("<p>One</p><p>Two</p>", "One\n\nTwo"),
        ("One<br>Two<div>Three</div>Four", "One\nTwo\nThree\nFour"),
        ("a <b>bold</b>\n   word", "a bold word"),
        ("<ul><li>milk</li><li>eggs</li></ul>", "- milk\n- eggs"),
        ("<table><tr><td>a</td><td>b</td></tr><tr><td>c</td></tr></table>", "a | b\nc"),
        ('<a href="https://x.org">the plan</a>', "the plan"),
        ("caf&eacute; &amp; &#1513;&nbsp;x", "café & ש x"),
        ("<style>p {}</style><script>x()</script>Hi", "Hi"),
        ("<head><title>T</title></head><body>Hi</body>", "Hi"),
        ('Hi<span style="display:none">preview</span>!', "Hi!"),
        ("Hi<!-- secret -->!", "Hi!"),
        ("<pre>a\n  b</pre>", "a\n  b"),
        ("Yes<blockquote>When?<br>Where?</blockquote>No", "Yes\n> When?\n> Where?\nNo"),
        ("<p>unclosed <b>tags", "unclosed tags"),
        ("1 < 2 and 3 > 2", "1 < 2 and 3 > 2"),
    ],
)
def test_html_to_text_renders_the_visible_text(html, text):
    assert html_to_text(html) == text


@pytest.mark.parametrize(
    "quoted",
    [
        '<div class="gmail_quote">On Sun, 1 Mar 2026 at 10:00, Dan wrote:<br>'
        "<blockquote>When?</blockquote></div>",
        '<hr id="stopSpelling">Date: Sun<br>Subject: Rome<br>From: dan@x.org<br>To: Ana<br>When?',
        '<div style="border-top:solid"><p><b>From:</b> Dan<br><b>Sent:</b> Sunday<br>'
        "<b>To:</b> Ana<br><b>Subject:</b> Rome</p></div><p>When?</p>",
        '<div class="moz-cite-prefix">On 01.03.2026 10:00, Dan wrote:</div>'
        "<blockquote>When?</blockquote>",
    ],
)
def test_email_parser_cuts_quoted_replies_in_html(quoted):
    assert text_of(f"<p>Let us go.</p>{quoted}", "Content-Type: text/html\n") == "Let us go."
