"""Writing small projects."""

import os
from pathlib import Path


def write(root: Path, **files: str) -> None:
    """Python files by name; `__` stands for a slash."""
    for name, text in files.items():
        file = root / f"{name.replace('__', '/')}.py"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)


def grow_old(root: Path) -> None:
    """What has just been written is looked at once more; this has not."""
    for path in [root, *root.rglob("*")]:
        os.utime(path, (1_000_000_000, 1_000_000_000), follow_symlinks=False)
