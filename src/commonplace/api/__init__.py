"""The Python API: open(), Commonplace and User. Adapters are chosen here and nowhere else.

book = commonplace.open("memory.db")
me = book.user("ana")
me.remember("The wifi password is tulip42")
me.recall("wifi password")
"""

from commonplace.api.account import KeyVerbs
from commonplace.api.commonplace import Calibrated, Commonplace
from commonplace.api.embedders import make_embedder
from commonplace.api.memories import Verified
from commonplace.api.open import open, open_without_embedder, utc_now
from commonplace.api.user import User
from commonplace.engine.idempotency import AnswerRetention, IdempotentRequest
from commonplace.engine.search.pack import Choice

__all__ = [
    "AnswerRetention",
    "Calibrated",
    "Choice",
    "Commonplace",
    "IdempotentRequest",
    "KeyVerbs",
    "User",
    "Verified",
    "make_embedder",
    "open",
    "open_without_embedder",
    "utc_now",
]
