"""Calibration: from cosine to similarity, measured on labelled pairs.

Half of a script's pairs fit the map, the other half validate it. A script that fails validation is
unsupported by the model: its cosines are not used, and words decide.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations, pairwise

import numpy as np
from numpy.typing import NDArray

from commonplace.errors import InvalidInput
from commonplace.language.embedders.embedder import Calibration, CalibrationProof, Embedder, Knots
from commonplace.language.text.detect import Script, detect_script
from commonplace.model import validation

MIN_PAIRS = 40  # per script, half of them held out; fewer are not enough
MIN_CORRELATION = 0.6  # Spearman, on the held-out half
UNRELATED = 0.2  # by human judgement
MAX_UNRELATED = 0.75  # threshold of a link: unrelated pairs must be below it
UNRELATED_SHARE = 0.95  # … 95 % of them

_REMEDY = 'Write {"a": "…", "b": "…", "similarity": 0.8} on each line.'
_GRID = tuple(round(0.05 * step, 2) for step in range(1, 20))
_INNER_KNOTS = 2

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class CalibrationPair:
    a: str
    b: str
    similarity: float  # 0 to 1, by human judgement

    @property
    def script(self) -> Script | None:
        """None if the two texts have different scripts: the pair is evidence for neither."""
        one, other = detect_script(self.a), detect_script(self.b)
        return one if one is other else None


def parse_pairs(lines: Iterable[str]) -> list[CalibrationPair]:
    """One JSON object per line: {"a": …, "b": …, "similarity": 0 to 1}."""
    if isinstance(lines, str | bytes) or not isinstance(lines, Iterable):
        raise InvalidInput("lines must be a list.", remedy=_REMEDY, field="lines")
    return [_parse_pair(line, number) for number, line in enumerate(lines, 1) if str(line).strip()]


def _parse_pair(line: str, number: int) -> CalibrationPair:
    """Each line is validated like input: the file may come from anywhere."""
    try:
        parsed = json.loads(line)
        return CalibrationPair(
            validation.text(parsed["a"], "a"),
            validation.text(parsed["b"], "b"),
            validation.number(parsed["similarity"], "similarity", 0, 1),
        )
    except InvalidInput as error:
        message = f"Line {number}: {error.message}"
        raise InvalidInput(message, remedy=_REMEDY, field="lines") from error
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise InvalidInput(
            f"Line {number} is not a pair.", remedy=_REMEDY, field="lines"
        ) from error


def calibrate(embedder: Embedder, pairs: Sequence[CalibrationPair]) -> Calibration:
    """Fit and validate a map per script; every second pair is held out. Raises EmbedderDown."""
    knots: dict[Script, Knots] = {}
    proofs: dict[Script, CalibrationProof] = {}
    for each in Script:
        of_script = [pair for pair in pairs if pair.script is each]
        if len(of_script) < MIN_PAIRS:
            continue
        fitted, proof = _fit_and_prove(
            cosines_of(embedder, of_script), _judged_similarities(of_script)
        )
        proofs[each] = proof
        if proof.holds:
            knots[each] = fitted
    return Calibration(knots, proofs)


def _fit_and_prove(cosines: Floats, judged: Floats) -> tuple[Knots, CalibrationProof]:
    fitted = fit_knots(cosines[::2], judged[::2])
    at, values = zip(*fitted, strict=True)
    predicted = np.interp(cosines[1::2], at, values)
    held_out = judged[1::2]
    unrelated = predicted[held_out <= UNRELATED]
    highest = float(np.quantile(unrelated, UNRELATED_SHARE)) if len(unrelated) else 1.0
    correlation = spearman(predicted, held_out)
    return fitted, CalibrationProof(
        pairs=len(judged),
        correlation=round(correlation, 3),
        error=round(float(np.mean(np.abs(predicted - held_out))), 3),
        unrelated=round(highest, 3),
        holds=correlation >= MIN_CORRELATION and highest < MAX_UNRELATED,
    )


def fit_knots(cosines: Floats, judged: Floats) -> Knots:
    """The increasing piecewise linear map through (0, 0), two knots and (1, 1) with least error."""
    best: Knots = ((0.0, 0.0), (1.0, 1.0))
    least = np.inf
    for bends in combinations(_GRID, _INNER_KNOTS):
        at = (0.0, *bends, 1.0)
        # A piecewise linear function is a sum of hat functions, one per knot: least squares.
        hats = np.stack([np.interp(cosines, at, np.eye(len(at))[i]) for i in range(len(at))], 1)
        inner, *_ = np.linalg.lstsq(hats[:, 1:-1], judged - hats[:, -1], rcond=None)
        heights = (0.0, *(round(float(height), 3) for height in inner), 1.0)
        error = float(np.sum((hats @ np.array(heights) - judged) ** 2))
        if error < least and all(low <= high for low, high in pairwise(heights)):
            best, least = tuple(zip(at, heights, strict=True)), error
    return best


def spearman(one: Floats, other: Floats) -> float:
    """Spearman's rank correlation with shared ranks for ties; 0 if one side is constant."""
    ranks = _ranks(one), _ranks(other)
    if min(np.ptp(ranks[0]), np.ptp(ranks[1])) == 0:
        return 0.0
    return float(np.corrcoef(*ranks)[0, 1])


def _ranks(values: Floats) -> Floats:
    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    return np.asarray((np.cumsum(counts) - (counts - 1) / 2)[place], dtype=np.float64)


def cosines_of(embedder: Embedder, pairs: Sequence[CalibrationPair]) -> Floats:
    ones = embedder.embed_passages([pair.a for pair in pairs])
    others = embedder.embed_passages([pair.b for pair in pairs])
    return np.asarray(np.sum(ones.astype(np.float64) * others, axis=1))


def _judged_similarities(pairs: Sequence[CalibrationPair]) -> Floats:
    return np.array([pair.similarity for pair in pairs])


# ——— stored form ———


def calibration_to_text(calibration: Calibration, measured: bool) -> str:
    """``measured``: on the user's own pairs; overrides the calibration shipped with the
    embedder."""
    scripts = {
        str(each): {
            "knots": calibration.knots.get(each),
            "proof": asdict(calibration.proofs[each]) if each in calibration.proofs else None,
        }
        for each in Script
        if each in calibration.knots or each in calibration.proofs
    }
    return json.dumps({"measured": measured, "scripts": scripts}, sort_keys=True)


def calibration_from_text(text: str) -> tuple[Calibration, bool]:
    stored = json.loads(text)
    scripts = {Script(name): about for name, about in stored["scripts"].items()}
    knots = {
        each: tuple((float(at), float(value)) for at, value in about["knots"])
        for each, about in scripts.items()
        if about["knots"]
    }
    proofs = {
        each: CalibrationProof(**about["proof"])
        for each, about in scripts.items()
        if about["proof"]
    }
    return Calibration(knots, proofs), bool(stored["measured"])
