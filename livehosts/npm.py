"""Installs the CLIs from npm into a folder that all clones share."""

import json
import os
import subprocess
from pathlib import Path

from livehosts.host_cli import HostCli


def cache_folder() -> Path:
    """Return where CLIs and runs are kept: RECOLLECT_HOSTS_CACHE, else a folder of the user's cache.

    It is not below the system's temporary folder, because Codex warns there.
    """
    if given := os.environ.get("RECOLLECT_HOSTS_CACHE"):
        return Path(given).absolute()
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "recollect-hosts"


def installed(cli: HostCli) -> Path:
    """Install the CLI at its pinned version unless it is there; return its program."""
    folder = cache_folder() / cli.name
    package = folder / "node_modules" / cli.package
    if _version(package) != cli.version:
        folder.mkdir(parents=True, exist_ok=True)
        words = ["npm", "install", "--prefix", str(folder), "--no-audit", "--no-fund", "--ignore-scripts"]
        subprocess.run([*words, f"{cli.package}@{cli.version}"], check=True, stdout=subprocess.DEVNULL)
        if cli.setup:
            subprocess.run(["node", cli.setup], cwd=package, check=True, stdout=subprocess.DEVNULL)
    return folder / "node_modules" / ".bin" / cli.program


def primed_folder(cli: HostCli) -> Path:
    """Return where the files are kept that the CLI downloads at its first start."""
    return cache_folder() / cli.name / f"primed-{cli.version}"


def _version(package: Path) -> str:
    try:
        return str(json.loads((package / "package.json").read_text())["version"])
    except (OSError, KeyError, ValueError):
        return ""
