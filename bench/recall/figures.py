"""Figures of a run, kept as JSON beside those of the other parts, so that the next run can say what changed."""

import json
from pathlib import Path
from typing import Any

OUT = Path(__file__).resolve().parents[1] / "out"


def last(part: str) -> dict[str, Any]:
    """Empty before the first run."""
    path = _path(part)
    found: dict[str, Any] = json.loads(path.read_text()) if path.exists() else {}
    return found


def keep(part: str, figures: dict[str, Any]) -> Path:
    """What this run did not measure stays as it was."""
    path = _path(part)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(last(part) | figures, indent=1))
    return path


def _path(part: str) -> Path:
    return OUT / f"recall-{part}.json"
