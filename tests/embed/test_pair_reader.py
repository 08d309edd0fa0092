"""The bundled model that reads two statements at once."""

import pytest

from recollect.embed.pair_reader import BundledReader

OLD = "Primary keys are bigint sequences."


@pytest.fixture(scope="module")
def reader():
    reader = BundledReader()
    reader.load()
    return reader


@pytest.mark.parametrize(
    ("old", "new", "relation"),
    [
        (
            "Commit messages are in the past tense.",
            "Write commit messages in the imperative mood ('Add', not 'Added').",
            "contradiction",
        ),
        ("Tests are run with pytest.", "To run the tests, use pytest.", "same"),
        ("The billing worker retries three times.", "The mail worker retries five times.", "beside"),
    ],
)
def test_it_tells_how_two_statements_relate(reader, old, new, relation):
    (read,) = reader.relate([(old, new)])

    assert max(read._fields, key=lambda name: getattr(read, name)) == relation
    assert sum(read) == pytest.approx(1, abs=1e-5)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("El servidor siempre reintenta los pagos.", "El servidor nunca reintenta los pagos."),
        ("Rechnungen werden vom Vertrieb freigegeben.", "Kunden dürfen Bestellungen stornieren."),
        ("Migracje zawsze usuwają dane.", "Migracje nigdy nie usuwają danych."),
    ],
)
def test_other_languages_than_english_are_not_read(reader, old, new):
    assert reader.relate([(old, new)]) == [(0.0, 0.0, 1.0)]


def test_the_order_of_the_two_does_not_matter(reader):
    forward, backward = reader.relate([(OLD, "Tables have UUIDs."), ("Tables have UUIDs.", OLD)])

    assert forward == pytest.approx(
        backward, abs=0.02
    )  # what is read in one run shares the scale of its numbers


@pytest.mark.parametrize("text", ["", "\ud800", "word " * 2000, "漢字 " * 300, "\0"])
def test_any_text_can_be_read(reader, text):
    assert len(reader.relate([(text, OLD), (OLD, text)])) == 2


def test_it_has_no_answer_before_it_is_loaded():
    reader = BundledReader()

    assert not reader.is_loaded
    assert reader.relate([(OLD, OLD)]) is None


def test_a_damaged_model_has_no_answer_and_is_tried_once(tmp_path, caplog):
    (tmp_path / "model.onnx").write_bytes(b"no model")
    reader = BundledReader(tmp_path / "model.onnx")

    reader.load()
    reader.load()

    assert reader.relate([(OLD, OLD)]) is None
    assert len([record for record in caplog.records if "cannot be loaded" in record.getMessage()]) == 1
