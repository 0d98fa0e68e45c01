"""Calibration: from cosine to similarity, measured on labelled pairs.

Half of the pairs of a script draw the map, the other half prove it. A script without proof is one
where the model is blind: its cosines say nothing, and words have to decide.
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

MIN_PAIRS = 40  # of a script, half of them held out; fewer prove nothing
MIN_CORRELATION = 0.6  # Spearman, on the held-out half
UNRELATED = 0.2  # as people judged
MAX_UNRELATED = 0.75  # a link's threshold: unrelated pairs must stay below it
UNRELATED_SHARE = 0.95  # … all but one in twenty

_REMEDY = 'Write {"a": "…", "b": "…", "similarity": 0.8} on each line.'
_GRID = tuple(round(0.05 * step, 2) for step in range(1, 20))
_INNER_KNOTS = 2

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class CalibrationPair:
    a: str
    b: str
    similarity: float  # 0 to 1, as people judge it

    @property
    def script(self) -> Script | None:
        """None: two scripts in one pair say nothing about either."""
        one, other = detect_script(self.a), detect_script(self.b)
        return one if one is other else None


def parse_pairs(lines: Iterable[str]) -> list[CalibrationPair]:
    """A line of JSON each: {"a": …, "b": …, "similarity": 0 to 1}."""
    if isinstance(lines, str | bytes) or not isinstance(lines, Iterable):
        raise InvalidInput("lines must be a list.", remedy=_REMEDY, field="lines")
    return [_parse_pair(line, number) for number, line in enumerate(lines, 1) if str(line).strip()]


def _parse_pair(line: str, number: int) -> CalibrationPair:
    """A file may come from anywhere, so each line is checked like input."""
    try:
        told = json.loads(line)
        return CalibrationPair(
            validation.text(told["a"], "a"),
            validation.text(told["b"], "b"),
            validation.number(told["similarity"], "similarity", 0, 1),
        )
    except InvalidInput as error:
        told = f"Line {number}: {error.message}"
        raise InvalidInput(told, remedy=_REMEDY, field="lines") from error
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise InvalidInput(
            f"Line {number} is not a pair.", remedy=_REMEDY, field="lines"
        ) from error


def calibrate(embedder: Embedder, pairs: Sequence[CalibrationPair]) -> Calibration:
    """Every second pair of a script is held out. Raises EmbedderDown."""
    knots: dict[Script, Knots] = {}
    proofs: dict[Script, CalibrationProof] = {}
    for each in Script:
        of_script = [pair for pair in pairs if pair.script is each]
        if len(of_script) < MIN_PAIRS:
            continue
        drawn, proof = _fit_and_prove(
            cosines_of(embedder, of_script), _judged_similarities(of_script)
        )
        proofs[each] = proof
        if proof.holds:
            knots[each] = drawn
    return Calibration(knots, proofs)


def _fit_and_prove(cosines: Floats, judged: Floats) -> tuple[Knots, CalibrationProof]:
    drawn = fit_knots(cosines[::2], judged[::2])
    at, values = zip(*drawn, strict=True)
    told = np.interp(cosines[1::2], at, values)
    held_out = judged[1::2]
    unrelated = told[held_out <= UNRELATED]
    highest = float(np.quantile(unrelated, UNRELATED_SHARE)) if len(unrelated) else 1.0
    correlation = spearman(told, held_out)
    return drawn, CalibrationProof(
        pairs=len(judged),
        correlation=round(correlation, 3),
        error=round(float(np.mean(np.abs(told - held_out))), 3),
        unrelated=round(highest, 3),
        holds=correlation >= MIN_CORRELATION and highest < MAX_UNRELATED,
    )


def fit_knots(cosines: Floats, judged: Floats) -> Knots:
    """The rising line through (0, 0), two bends and (1, 1) that errs least on these pairs."""
    best: Knots = ((0.0, 0.0), (1.0, 1.0))
    least = np.inf
    for bends in combinations(_GRID, _INNER_KNOTS):
        at = (0.0, *bends, 1.0)
        # A line with bends is a sum of hats, one on each knot, so the heights are least squares.
        hats = np.stack([np.interp(cosines, at, np.eye(len(at))[i]) for i in range(len(at))], 1)
        inner, *_ = np.linalg.lstsq(hats[:, 1:-1], judged - hats[:, -1], rcond=None)
        heights = (0.0, *(round(float(height), 3) for height in inner), 1.0)
        error = float(np.sum((hats @ np.array(heights) - judged) ** 2))
        if error < least and all(low <= high for low, high in pairwise(heights)):
            best, least = tuple(zip(at, heights, strict=True)), error
    return best


def spearman(one: Floats, other: Floats) -> float:
    """Correlation of ranks, ties sharing theirs; 0 where one of them does not vary."""
    ranks = _ranks(one), _ranks(other)
    if min(np.ptp(ranks[0]), np.ptp(ranks[1])) == 0:
        return 0.0
    return float(np.corrcoef(*ranks)[0, 1])


def _ranks(values: Floats) -> Floats:
    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    return np.asarray((np.cumsum(counts) - (counts - 1) / 2)[place], dtype=np.float64)


def cosines_of(embedder: Embedder, pairs: Sequence[CalibrationPair]) -> Floats:
    ones = embedder.embed([pair.a for pair in pairs])
    others = embedder.embed([pair.b for pair in pairs])
    return np.asarray(np.sum(ones.astype(np.float64) * others, axis=1))


def _judged_similarities(pairs: Sequence[CalibrationPair]) -> Floats:
    return np.array([pair.similarity for pair in pairs])


# ——— as it is kept with the vectors ———


def calibration_to_text(calibration: Calibration, measured: bool) -> str:
    """``measured``: on a user's own pairs, so that it outranks what ships with the embedder."""
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
    told = json.loads(text)
    scripts = {Script(name): about for name, about in told["scripts"].items()}
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
    return Calibration(knots, proofs), bool(told["measured"])
