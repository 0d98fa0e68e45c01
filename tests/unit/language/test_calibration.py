"""From judged pairs to a map, and when the map is believed."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from commonplace.language.embedders.calibration import (
    calibrate,
    calibration_from_text,
    calibration_to_text,
    fit_knots,
    parse_pairs,
    spearman,
)
from commonplace.language.embedders.embedder import Calibration, CalibrationProof
from commonplace.language.embedders.hashing import HashingEmbedder
from commonplace.language.embedders.minilm import MiniLmEmbedder
from commonplace.language.embedders.wordllama import WordLlamaEmbedder
from commonplace.language.text.detect import Script

OWN_PAIRS = Path(__file__).parents[3] / "labelled" / "similarity.jsonl"


@pytest.fixture(scope="module")
def own_pairs():
    return parse_pairs(OWN_PAIRS.read_text(encoding="utf-8").splitlines())


def test_fit_knots_recovers_a_piecewise_linear_map():
    cosines = np.linspace(-0.2, 1, 200)
    judged = np.interp(cosines, (0, 0.4, 0.8, 1), (0, 0.1, 0.7, 1))
    assert fit_knots(cosines, judged) == ((0.0, 0.0), (0.4, 0.1), (0.8, 0.7), (1.0, 1.0))


def test_spearman_handles_ties_and_constant_ranks():
    one = np.array([1.0, 2, 3, 4])
    assert spearman(one, one**3) == pytest.approx(1)
    assert spearman(one, -one) == pytest.approx(-1)
    assert spearman(one, np.ones(4)) == 0
    assert spearman(np.array([1.0, 1, 2]), np.array([1.0, 2, 3])) == pytest.approx(0.866, abs=1e-3)


@pytest.mark.parametrize("made", [WordLlamaEmbedder, MiniLmEmbedder, HashingEmbedder])
def test_calibration_declared_for_hebrew_matches_the_labelled_pairs(made, own_pairs):
    """All are blind there, by the numbers that they declare."""
    found = calibrate(made(), own_pairs).proofs[Script.HEBREW]
    declared = made.calibration.proofs[Script.HEBREW]
    assert not found.holds
    assert found.correlation == pytest.approx(declared.correlation, abs=0.02)
    assert found.pairs == declared.pairs
    assert Script.HEBREW not in made.calibration.knots


@pytest.mark.parametrize("made", [WordLlamaEmbedder, MiniLmEmbedder, HashingEmbedder])
def test_calibration_has_knots_only_for_proved_scripts(made):
    proofs = made.calibration.proofs
    assert set(made.calibration.knots) == {each for each in proofs if proofs[each].holds}


def test_calibration_proof_text_names_the_held_out_pairs():
    """Not by those that drew the map; and where it is another map's, that is said."""
    told = str(WordLlamaEmbedder.calibration.proofs[Script.LATIN])
    assert (
        told
        == "correlation 0.84 on 750 held-out pairs, for a calibration fitted to half of the pairs"
    )
    assert str(MiniLmEmbedder.calibration.proofs[Script.LATIN]).endswith("750 held-out pairs")


def test_calibrate_skips_scripts_with_too_few_pairs(own_pairs):
    found = calibrate(HashingEmbedder(), own_pairs)
    assert set(found.proofs) == {Script.HEBREW}


def test_labelled_pair_in_two_scripts_has_no_script():
    (pair,) = parse_pairs(['{"a": "lamp", "b": "מנורה", "similarity": 1}'])
    assert pair.script is None


def test_calibration_round_trips_through_text():
    proof = CalibrationProof(pairs=90, correlation=0.8, error=0.1, unrelated=0.2, holds=True)
    blind = CalibrationProof(pairs=80, correlation=0.3, error=0.4, unrelated=0.9, holds=False)
    kept = Calibration(
        {Script.LATIN: ((0.0, 0.0), (1.0, 1.0))}, {Script.LATIN: proof, Script.HEBREW: blind}
    )
    text = calibration_to_text(kept, measured=True)
    assert calibration_from_text(text) == (kept, True)
    assert json.loads(text)["scripts"]["hebrew"]["knots"] is None


def test_similarities_between_scripts_use_the_stricter_calibration():
    """And not at all where the model is blind to one of them."""
    calibration = Calibration(
        {Script.LATIN: ((0.0, 0.0), (1.0, 1.0)), Script.GREEK: ((0.0, 0.0), (0.5, 0.1), (1.0, 1.0))}
    )
    others = [Script.LATIN, Script.GREEK, Script.HEBREW]
    cosines = np.full(3, 0.5, dtype=np.float32)
    told = calibration.similarities_between(cosines, Script.LATIN, others)
    assert told[:2].tolist() == [0.5, pytest.approx(0.1)]
    assert np.isnan(told[2])
    assert np.isnan(calibration.similarities_between(cosines, Script.HEBREW, others)).all()
