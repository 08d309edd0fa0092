"""The browser of the tests: Debian's Chromium, driven by Playwright."""

import os
import shutil
from pathlib import Path

PROGRAMS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def find_browser() -> str | None:
    """Return the path of a browser on this machine: the one that RECOLLECT_BROWSER names, else a usual one."""
    named = os.environ.get("RECOLLECT_BROWSER")
    if named:
        return named if Path(named).exists() else None
    return next((path for name in PROGRAMS if (path := shutil.which(name))), None)
