"""Make sure that there is a browser for the tests of `recollect web`: install Debian's Chromium if you are root.

Without the rights the tests in a browser are left out, unless CI is set: CI has to have one.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from browser import find_browser


def main() -> int:
    if find_browser() is None:
        install()
    found = find_browser()
    if found is None:
        print(
            "No Chromium here: the tests of the memory browser are left out. Install the package chromium to run them."
        )
        return 1 if os.environ.get("CI") else 0
    return 0


def install() -> None:
    """Install the package as root, or by sudo in CI, where it asks for no password."""
    if shutil.which("apt-get") is None:
        return
    if os.getuid() == 0:
        prefix: list[str] = []
    elif os.environ.get("CI") and shutil.which("sudo"):
        prefix = ["sudo", "-n"]
    else:
        return
    print("Installing Chromium for the tests of the memory browser.")
    quiet = {"stdout": subprocess.DEVNULL, "env": {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}}
    for words in (["update"], ["install", "-y", "--no-install-recommends", "chromium"]):
        if subprocess.run([*prefix, "apt-get", "-q", *words], check=False, **quiet).returncode:
            print(f"`apt-get {' '.join(words)}` failed.")


if __name__ == "__main__":
    sys.exit(main())
