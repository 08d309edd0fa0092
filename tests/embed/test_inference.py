"""The optional model of natural-language inference: off when absent, and never in the way."""

from recollect.embed.inference import InferenceModel, open_inference


def test_without_a_setting_there_is_no_model():
    assert open_inference("") is None


def test_a_folder_without_a_model_has_no_opinion(tmp_path):
    model = InferenceModel(tmp_path)
    model.load()

    assert model.contradicts("Use tabs.", "Use spaces.") is None


def test_one_model_serves_all_who_ask(tmp_path):
    assert open_inference(str(tmp_path)) is open_inference(str(tmp_path))
