"""The book: one short method per verb. Here, and only here, adapters are chosen.

book = commonplace.open("memory.db")
me = book.user("ana")
me.remember("The wifi password is tulip42")
me.recall("wifi password")
"""

from commonplace.book.commonplace import Commonplace
from commonplace.book.opening import make_embedder, open, utc_now
from commonplace.book.user import Choice, User, Verified

__all__ = ["Choice", "Commonplace", "User", "Verified", "make_embedder", "open", "utc_now"]
