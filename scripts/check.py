"""The inner loop, in less than a minute: lint and types of everything, and the tests that are quick or near what you changed.

    python scripts/check.py            # what differs from main, with files that git does not know yet
    python scripts/check.py --list     # only print the tests that it would run

`make test` runs all tests.
"""

import argparse
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
CODE = ("src", "tests", "bench", "livehosts", "scripts")
QUICK = (
    "tests/test_config.py",
    "tests/test_kinds.py",
    "tests/test_model.py",
    "tests/test_policy.py",
    "tests/text",
)
MOST_NEAR = 6  # test files; a change of more than a few modules needs `make test` anyway


def changed_files() -> list[str]:
    """Return the files that differ from main, relative to the root."""
    base = _git("merge-base", "HEAD", "origin/main") or _git("merge-base", "HEAD", "main") or ["HEAD"]
    return [*_git("diff", "--name-only", base[0]), *_git("ls-files", "--others", "--exclude-standard")]


def _git(*words: str) -> list[str]:
    done = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True)
    return done.stdout.splitlines() if done.returncode == 0 else []


def tests_for(changed: Iterable[str], tests: Iterable[str]) -> list[str]:
    """Return the changed test files of `tests`, and those named like a changed module: `minilm.py` has `test_minilm.py`."""
    paths = [Path(name) for name in changed if name.endswith(".py")]
    stems = {path.stem for path in paths if path.parts[0] != "tests"}
    names = {path.as_posix() for path in paths}
    near = [
        test
        for test in tests
        if test in names or Path(test).stem.removeprefix("test_").removeprefix("cli_") in stems
    ]
    return sorted(near, key=lambda test: test not in names)[:MOST_NEAR]


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--list", action="store_true", help="only print the tests that it would run")
    everything = sorted(path.relative_to(ROOT).as_posix() for path in ROOT.glob("tests/**/test_*.py"))
    tests = [*QUICK, *tests_for(changed_files(), everything)]
    if parser.parse_args().list:
        print("\n".join(tests))
        return 0
    for command in (
        ["ruff", "check", *CODE],
        ["ruff", "format", "--check", *CODE],
        ["mypy"],  # reads again only what has changed
        ["pytest", "-x", *tests],
    ):
        code = subprocess.run([sys.executable, "-m", *command], cwd=ROOT).returncode
        if code:
            return code
    return 0


if __name__ == "__main__":
    sys.exit(main())
