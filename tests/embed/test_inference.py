"""The optional model of natural-language inference: off when absent, and never in the way."""

import pytest

from recollect.embed import inference
from recollect.embed.inference import InferenceModel, open_inference


def test_without_a_setting_there_is_no_model():
    assert open_inference("") is None


def test_a_folder_without_a_model_has_no_opinion(tmp_path):
    model = InferenceModel(tmp_path)
    model.load()

    assert model.contradicts("Use tabs.", "Use spaces.") is None


def test_one_model_serves_all_who_ask(tmp_path):
    assert open_inference(str(tmp_path)) is open_inference(str(tmp_path))


@pytest.mark.parametrize(
    ("margins", "contradict", "asked"),
    [([3.0], True, 1), ([-0.5], False, 1), ([1.0, 2.5], True, 2), ([1.0, 1.5], False, 2)],
)
def test_the_other_direction_is_asked_only_where_the_first_is_unsure(margins, contradict, asked):
    answers = iter(margins)
    calls = []

    def margin(premise, hypothesis):
        calls.append((premise, hypothesis))
        return next(answers)

    assert inference._contradict(margin, "a", "b") is contradict
    assert calls == [("a", "b"), ("b", "a")][:asked]
