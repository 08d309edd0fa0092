"""Make the links of README.md absolute, and name the repository in pyproject.toml: PyPI knows neither folders nor where we come from.

    python scripts/release_links.py https://example.com/owner/recollect v0.3.0

The release workflow runs it in its own checkout, before it builds. A clone keeps relative links, which work everywhere else.
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
_LINK = re.compile(r"(!?\[[^\]]*\])\((?![a-z]+:|#)([^)\s]+)\)")


def absolute(text: str, repository: str, tag: str) -> str:
    """Return Markdown whose relative links lead to the files of `tag`; pictures are shown as they are."""

    def link(match: re.Match[str]) -> str:
        kind = "raw" if match[1].startswith("!") else "blob"
        return f"{match[1]}({repository}/{kind}/{tag}/{match[2]})"

    return _LINK.sub(link, text)


def with_urls(project: str, repository: str) -> str:
    """Return pyproject.toml with the pages that PyPI links to."""
    pages = {
        "Homepage": repository,
        "Documentation": f"{repository}/tree/main/docs",
        "Changelog": f"{repository}/blob/main/CHANGELOG.md",
        "Issues": f"{repository}/issues",
    }
    lines = "".join(f'{name} = "{address}"\n' for name, address in pages.items())
    return project.replace("[project.scripts]\n", f"[project.urls]\n{lines}\n[project.scripts]\n", 1)


def main() -> None:
    repository, tag = sys.argv[1].rstrip("/"), sys.argv[2]
    for name, change in (
        ("README.md", lambda text: absolute(text, repository, tag)),
        ("pyproject.toml", lambda text: with_urls(text, repository)),
    ):
        path = ROOT / name
        path.write_text(change(path.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
