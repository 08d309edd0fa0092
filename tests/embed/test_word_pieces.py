"""BERT's tokenizer: our own gives the ids that the libraries give."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from splintr import WordPieceTokenizer

from recollect.embed import minilm
from recollect.embed.word_pieces import WordPieces

VOCABULARY = Path(minilm.__file__).with_name("vocab.txt")
DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture(scope="module")
def pieces():
    return WordPieces(VOCABULARY)


@pytest.fixture(scope="module")
def reference():
    tokenizer = WordPieceTokenizer(VOCABULARY.read_text("utf-8").splitlines(), 100, do_lower_case=True)
    return lambda text: [101, *tokenizer.encode_ordinary(text), 102]


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        # As the `tokenizers` package encodes them with BERT's uncased rules.
        ("", [101, 102]),
        ("Hello, World!", [101, 7592, 1010, 2088, 999, 102]),
        ("naïve CAFÉ", [101, 15743, 7668, 102]),
        ("unaffable", [101, 14477, 20961, 3468, 102]),
        ("x" * 101, [101, 100, 102]),
    ],
)
def test_texts_are_split_as_bert_learnt_them(pieces, text, ids):
    assert pieces.encode(text) == ids


def test_a_separator_in_a_text_is_only_text(pieces):
    assert pieces.encode("a [SEP] b").count(102) == 1


def test_documents_have_the_ids_of_the_library(pieces, reference):
    lines = [line for page in sorted(DOCS.glob("*.md")) for line in page.read_text("utf-8").splitlines()]

    assert [line for line in lines if pieces.encode(line) != reference(line)] == []


@settings(max_examples=200, deadline=None, derandomize=True)
@given(st.text(st.characters(max_codepoint=0xFFFF, exclude_categories=["Cs", "Cn"]), max_size=40))
def test_any_text_has_the_ids_of_the_library(pieces, reference, text):
    assert pieces.encode(text) == reference(text)
