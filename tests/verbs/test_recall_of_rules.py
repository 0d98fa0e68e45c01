"""Questions about how the assistant should answer are answered by rules."""


def test_rules_come_first_whatever_their_words(book):
    me = book.user("ana")
    me.remember("Never use emojis", kind="rule", confidence=0.9, evidence=["said so"])
    for n in range(8):
        me.remember(f"Letter number {n} should be sent to Dana", kind="note")
    hits = me.recall("how should you write to me?", k=3).hits
    assert hits[0].text == "Never use emojis"
    assert all(hit.kind != "rule" for hit in me.recall("what should I send Dana?", k=3).hits)
