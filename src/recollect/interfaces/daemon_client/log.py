"""The daemon's log: one JSON object per line, in small rotating files. It never holds memories or messages."""

import json
import logging
import os
import traceback
from datetime import UTC, datetime
from io import TextIOWrapper
from logging.handlers import RotatingFileHandler
from pathlib import Path
from types import TracebackType

NAME = "daemon.log"
LARGEST = 1_000_000  # bytes of one file
KEPT = 2  # older files


class _JsonLines(logging.Formatter):
    """Writes the message's template and our own fields, never its arguments: those may quote messages."""

    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, object] = {
            "at": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "pid": record.process,
            "what": str(record.msg),
            **getattr(record, "fields", {}),
        }
        if record.exc_info and record.exc_info[0] is not None:
            line["error"] = record.exc_info[0].__name__
            line["where"] = _where(record.exc_info[2])
        return json.dumps(line, ensure_ascii=False)


def _where(trace: TracebackType | None) -> list[str]:
    frames = traceback.extract_tb(trace)[-6:]
    return [f"{Path(frame.filename).name}:{frame.lineno} {frame.name}" for frame in frames]


class _PrivateFile(RotatingFileHandler):
    def _open(self) -> TextIOWrapper:
        file = os.open(self.baseFilename, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        return open(file, "a", encoding="utf-8")  # noqa: PTH123

    def handleError(self, record: logging.LogRecord) -> None:
        """Do nothing: on a full disk the work goes on without a log."""


def write_log(home: Path) -> None:
    """Send what this process logs to the log in `home`."""
    handler = _PrivateFile(home / NAME, maxBytes=LARGEST, backupCount=KEPT, encoding="utf-8", delay=True)
    handler.setFormatter(_JsonLines())
    ours = logging.getLogger("recollect")
    ours.addHandler(handler)
    ours.setLevel(logging.INFO)
    ours.propagate = False
