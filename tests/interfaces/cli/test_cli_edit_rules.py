import pytest

AWS_KEY = "AKIA" + "Q3EGRT7WPLM5XKDZ"  # made up, and split so that no scanner takes it for a real one


@pytest.mark.parametrize("importance", ["7", "nan", "-0.1"])
def test_edit_refuses_an_importance_out_of_range(run, remember, importance):
    name = remember("Use tabs")

    refused = run("edit", name, "--importance", importance)

    assert refused.code == 1
    assert "out of range" in refused.err
    assert run("show", name, "--json").json["memory"]["importance"] == 0.5


@pytest.mark.parametrize("option", ["--tag", "--file", "--trigger", "--season", "--branch"])
def test_edit_takes_secrets_out_of_details(run, remember, option):
    name = remember("Use tabs")

    said = run("edit", name, option, AWS_KEY)

    assert "Redacted" in said.out
    assert AWS_KEY.lower() not in run("show", name, "--json").out.lower()


def test_edit_refuses_a_private_file(run, remember):
    assert run("edit", remember("Use tabs"), "--file", ".env").code == 1


@pytest.mark.parametrize(
    "document",
    [
        '"version": 1, "memories": 5',
        '"version": "x", "memories": []',
        '"version": 1, "memories": [], "links": 5',
        '"version": 1, "memories": [], "projects": [{"name": "x"}]',
        '"version": 1, "memories": [], "projects": "abc"',
    ],
)
def test_an_export_of_another_shape_is_refused_whole(run, document):
    refused = run("import", "-", stdin='{"format": "recollect-export", ' + document + "}")

    assert refused.code == 1
    assert "standard input is not an export" in refused.err


@pytest.mark.parametrize(
    "field",
    [
        '"importance": NaN',
        '"importance": 7',
        '"trust": -1',
        '"strength": 1e400',
        '"strength": 99999999999999999999999',
        '"order": 99999999999999999999999',
        '"created_at": "0001-01-01T00:00:00+23:00"',
        '"provenance": [{"source": "observed", "at": "2026-01-01", "snippet": "\\ud800"}]',
        '"procedure": {"name": "\\ud800"}',
        '"reinforcements": [{"at": "2026-01-01", "by": "a\\u0000b"}]',
    ],
)
def test_a_line_with_a_field_that_cannot_be_is_refused_and_the_others_kept(run, field):
    lines = '{"content": "Use tabs"}\n{"content": "The total is rounded half up", ' + field + "}\n"

    told = run("import", "-", "--json", stdin=lines).json

    assert told["kept"] == 1
    assert [each["line"] for each in told["refused"]] == [2]


def test_a_memory_is_not_its_own_twin(run, remember):
    name = remember("use tabs")

    assert run("edit", name, "Use tabs").code == 0
    assert run("show", name, "--json").json["memory"]["content"] == "Use tabs"
