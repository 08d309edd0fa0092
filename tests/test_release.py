"""What a release changes in its checkout."""

import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "scripts"))

from release_links import absolute, with_urls  # noqa: E402 - it is in no package

PLACE = "https://example.com/ada/recollect"


def test_relative_links_become_absolute_and_others_stay():
    text = "[a](docs/a.md) ![b](docs/b.png) [c](https://c.example) [d](#d)"

    assert absolute(text, PLACE, "v1") == (
        f"[a]({PLACE}/blob/v1/docs/a.md) ![b]({PLACE}/raw/v1/docs/b.png) [c](https://c.example) [d](#d)"
    )


def test_no_link_of_the_readme_stays_relative():
    text = absolute((ROOT / "README.md").read_text("utf-8"), PLACE, "v1")

    assert "](docs/" not in text
    assert "](CONTRIBUTING.md)" not in text


def test_the_package_names_the_repository():
    project = tomllib.loads(with_urls((ROOT / "pyproject.toml").read_text("utf-8"), PLACE))["project"]

    assert project["urls"]["Homepage"] == PLACE
    assert project["scripts"]["recollect"]


def test_the_package_has_one_version():
    import recollect

    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]

    assert project["version"] == recollect.__version__
    assert f"version: {project['version']}" in (ROOT / "CITATION.cff").read_text("utf-8")
