import pytest

import recollect.model as m
from recollect.memory.anchors.tie import tie

FILE = "src/app/config.py"


def places(anchors):
    return [(anchor.path, anchor.symbol) for anchor in anchors]


@pytest.mark.parametrize(
    "text, symbols",
    [
        ("`parse_config` in `src/app/config.py` ignores unknown keys", ["parse_config"]),
        ("parse_config in src/app/config.py ignores unknown keys", ["parse_config"]),
        ("`src/app/config.py::Config.load` raises for empty files", ["Config.load"]),
        ("`Config.load()` in src/app/config.py:15 is slow", ["Config.load"]),
        (
            "In src/app/config.py, `load` must be called before `write_config(path, data)`",
            ["Config.load", "write_config"],
        ),
        ("app.config.parse_config (src/app/config.py) is pure", ["parse_config"]),
        ("Look at src/app/config.py first", [""]),
        ("`nothing` of src/app/config.py is needed", [""]),
    ],
)
def test_a_memory_is_tied_to_what_it_names_in_a_file_it_names(root, text, symbols):
    anchors = tie(root, text)

    assert places(anchors) == [(FILE, symbol) for symbol in symbols]
    assert all(bool(anchor.digest) == bool(anchor.symbol) for anchor in anchors)


def test_files_that_came_with_the_memory_count_as_named(root):
    assert places(tie(root, "`parse_config` ignores unknown keys", (FILE,))) == [(FILE, "parse_config")]


@pytest.mark.parametrize(
    "text, expected",
    [
        ("`parse_config` ignores unknown keys", [(FILE, "parse_config")]),
        ("Config.load is slow", [(FILE, "Config.load")]),
        ("`app.config.write_config` is not atomic", [(FILE, "write_config")]),
        ("See `app/config.py`", [(FILE, "")]),
        ("`json.load` is slow", []),
        ("`config.py` has too much in it", [("config.py", "")]),
        ("We load the configuration lazily", []),
        ("Use `npm test`", []),
    ],
)
def test_what_is_alone_of_its_name_in_the_code_needs_no_file(root, code, text, expected):
    assert places(tie(root, text, code=code)) == expected


def test_a_name_that_several_have_ties_nothing(root, code):
    (root / "other.py").write_text("def parse_config(): pass\n")

    assert tie(root, "`parse_config` ignores unknown keys", code=code) == ()


@pytest.mark.parametrize(
    "name", ["../secret.py", "/etc/hosts", "nul\0.py", "src/app", "src/*.py", "a" * 5000 + ".py"]
)
def test_what_is_no_file_of_the_project_ties_nothing(root, name):
    assert tie(root, f"See `{name}` there", (name,)) == ()


def test_a_link_that_leads_out_of_the_project_is_not_read(root, tmp_path_factory):
    outside = tmp_path_factory.mktemp("outside") / "x.py"
    outside.write_text("def parse(): pass\n")
    (root / "x.py").symlink_to(outside)

    assert tie(root, "`parse` in `x.py`") == (m.Anchor("x.py"),)


def test_what_would_take_long_is_left_for_another_time(root):
    (root / "long.py").write_text("def parse(): pass\n" + "x = 1\n" * 10_000)

    assert tie(root, "`parse` in `long.py` is slow", quick=True) == ()
    assert places(tie(root, "`parse` in `long.py` is slow")) == [("long.py", "parse")]
    assert places(tie(root, "Look at long.py first", quick=True)) == [("long.py", "")]
