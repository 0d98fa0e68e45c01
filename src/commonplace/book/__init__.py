"""The book: one short method per verb. Here, and only here, adapters are chosen.

book = commonplace.open("memory.db")
me = book.user("ana")
me.remember("The wifi password is tulip42")
me.recall("wifi password")
"""

from commonplace.book.commonplace import Calibrated, Commonplace
from commonplace.book.embedders import make_embedder
from commonplace.book.once import Asked, Holds
from commonplace.book.opening import open, open_as_it_is, utc_now
from commonplace.book.user import User
from commonplace.book.verbs.forgetting import Verified
from commonplace.book.verbs.keys import OfKeys
from commonplace.recall.pack import Choice

__all__ = [
    "Asked",
    "Calibrated",
    "Choice",
    "Commonplace",
    "Holds",
    "OfKeys",
    "User",
    "Verified",
    "make_embedder",
    "open",
    "open_as_it_is",
    "utc_now",
]
