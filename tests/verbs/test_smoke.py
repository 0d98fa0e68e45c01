def test_remember_and_recall(me):
    me.remember("The wifi password is tulip42")
    assert me.recall("wifi password").hits[0].text == "The wifi password is tulip42"
