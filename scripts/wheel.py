"""Install the wheel in dist/ into a new environment of every Python here, and run `recollect demo` from it.

    make dist && python scripts/wheel.py
    python scripts/wheel.py 3.12 3.13      # only these

Takes about a minute per Python. Exits with 1 if one fails.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from matrix import find_interpreters

ROOT = Path(__file__).resolve().parents[1]
EXPECTED = "The temporary folder was deleted."  # the end of the demo


def try_wheel(program: Path, wheel: Path, folder: Path) -> str:
    """Return what went wrong; "" if the demo ran."""
    place = folder / "environment"
    python = place / "bin" / "python"
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "RECOLLECT"))}
    environment = {**kept, "HOME": str(folder), "RECOLLECT_HOME": str(folder / "home")}
    for command in (
        [program, "-m", "venv", place],
        [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", wheel],
        [place / "bin" / "recollect", "demo"],
    ):
        done = subprocess.run(
            list(map(str, command)), cwd=folder, env=environment, capture_output=True, text=True, timeout=600
        )
        if done.returncode:
            return f"{' '.join(map(str, command))}: {done.stderr.strip()[-300:]}"
    return "" if EXPECTED in done.stdout else f"the demo printed {done.stdout[-300:]!r}"


def main() -> int:
    wheels = sorted((ROOT / "dist").glob("*.whl"))
    if not wheels:
        print("There is no wheel in dist/. Run `make dist` first.")
        return 1
    failed = False
    for python in find_interpreters():
        if sys.argv[1:] and not python.version.startswith(tuple(sys.argv[1:])):
            continue
        with tempfile.TemporaryDirectory() as folder:
            problem = try_wheel(python.program, wheels[-1], Path(folder))
        failed = failed or bool(problem)
        print(f"Python {python.version}: {problem or 'installed, and the demo ran'}", flush=True)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
