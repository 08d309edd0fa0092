"""Real transcripts, in `../shared/data/traces` beside the repository: not ours to ship, so they are never copied.

`labels.jsonl` says where a person corrected the agent and where an error was mended, in our own words; `judged.jsonl`
which findings are right, by the fingerprint of their text; `split.json` which half is held.
"""

import hashlib
import json
from collections import Counter, defaultdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bench.extraction.cases import ratio
from recollect.model import INJECTED_MARK, Finding
from recollect.text.redact import redact
from recollect.work.extract import extract
from recollect.work.hosts.transcripts import read
from recollect.work.transcripts.event import Event
from recollect.work.transcripts.tools import command_of

HERE = Path(__file__).parent
TRACES = HERE.parents[2] / "shared" / "data" / "traces"
NOW = datetime(2026, 1, 1, tzinfo=UTC)
TYPES = {"correction": "user corrections", "fix": "error → fix"}


def run() -> dict[str, Any]:
    if not TRACES.exists():
        return {"skipped": f"needs {TRACES}"}
    labels = _lines("labels.jsonl")
    verdicts = {(row["file"], row["fingerprint"]): row for row in _lines("judged.jsonl")}
    held = json.loads((HERE / "split.json").read_text())["held"]
    judged: dict[str, Counter[str]] = defaultdict(Counter)
    kinds: dict[str, Counter[str]] = defaultdict(Counter)
    recall: dict[str, Counter[str]] = defaultdict(Counter)
    echoes = secrets = sessions = 0
    details, missed = [], []
    for path in sorted(TRACES.glob("*.gz")):
        events = list(read(path))
        sessions += len({event.session for event in events})
        injected = " ".join(" ".join(event.text.split()) for event in events if event.injected)
        findings = extract(events, NOW)
        right = []
        for finding in findings:
            half = "held" if path.name in held["files"] or finding.session in held["sessions"] else "dev"
            row = verdicts.get((path.name, finding.fingerprint), {"verdict": "unjudged", "why": ""})
            judged[half][row["verdict"]] += 1
            kinds[finding.kind][row["verdict"]] += 1
            echoes += _echoes(finding.content, injected)
            secrets += bool(redact(finding.content)[1])
            if row["verdict"] == "right":
                right.append(finding)
            details.append({"file": path.name, "half": half, "finding": finding, **row})
        for label in (label for label in labels if label["file"] == path.name):
            recall[label["half"]][f"{label['type']} labelled"] += 1
            if _is_found(label, _place(label, events), right):
                recall[label["half"]][f"{label['type']} found"] += 1
            else:
                missed.append(label)
    return {
        "sessions": sessions,
        "judged": {half: dict(judged[half]) for half in ("dev", "held")},
        "kinds": {kind: dict(count) for kind, count in sorted(kinds.items())},
        "recall": {half: dict(recall[half]) for half in ("dev", "held")},
        "echoes": echoes,
        "secrets": secrets,
        "details": {"findings": details, "missed": missed},
    }


def _lines(name: str) -> list[dict[str, Any]]:
    path = HERE / name
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def _place(label: dict[str, Any], events: list[Event]) -> int:
    """The order of the labelled event, known by its text; readers may come to number events anew."""
    alike = [
        event.order
        for event in events
        if event.session == label["session"] and _digest(event) == label["digest"]
    ]
    return min(alike, key=lambda order: abs(order - label["order"]), default=-1)


def _digest(event: Event) -> str:
    text = " ".join((command_of(event) or event.text).split())
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:12]


def _is_found(label: dict[str, Any], order: int, findings: list[Finding]) -> bool:
    for made in findings:
        first, last = made.messages or (-1, -1)
        if made.session != label["session"]:
            continue
        if label["type"] == "fix" and made.kind == "error_pattern" and first in (order, order + 1):
            return True
        if label["type"] == "correction" and last == order:
            return True
    return False


def _echoes(content: str, injected: str) -> bool:
    said = content.partition(": ")[2] or content
    return INJECTED_MARK in content or (len(said) >= 30 and said.rstrip(".").lower() in injected.lower())


def show(found: dict[str, Any]) -> None:
    print(f"{found['sessions']} sessions")
    for half, count in found["judged"].items():
        right, wrong = count.get("right", 0), count.get("wrong", 0)
        print(
            f"{half:<5} precision {ratio(right, right + wrong)}   unjudged {count.get('unjudged', 0)}   (target ≥ 0.8)"
        )
    for half, count in found["recall"].items():
        for type, name in TYPES.items():
            part, whole = count.get(f"{type} found", 0), count.get(f"{type} labelled", 0)
            print(f"{half:<5} recall of {name:<17} {ratio(part, whole)}   (target ≥ 0.7)")
    for kind, count in found["kinds"].items():
        print(f"      {kind:<16} {', '.join(f'{n} {verdict}' for verdict, n in sorted(count.items()))}")
    print(
        f"findings that repeat injected text {found['echoes']}, that hold a secret {found['secrets']}   (target 0)"
    )


def explain(details: dict[str, Any] | None, halves: tuple[str, ...]) -> None:
    """None where there are no traces."""
    if details is None:
        return
    for row in details["findings"]:
        if row["half"] in halves:
            made = row["finding"]
            print(
                f"{row['verdict']:<9} {row['file']} {made.session} {made.messages} {made.fingerprint} [{made.kind}]"
            )
            print(f"          {made.content}")
            if row["why"]:
                print(f"          → {row['why']}")
    for label in details["missed"]:
        if label["half"] in halves:
            print(
                f"missed    {label['file']} {label['session']} {label['order']} [{label['type']}] {label['learn']}"
            )
