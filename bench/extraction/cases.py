"""Short transcripts that we made up, with what should be learnt from each: `cases.jsonl`."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from recollect.model import Finding
from recollect.work.extract import extract
from recollect.work.transcripts.event import ASSISTANT, TOOL, USER, Event

CASES = Path(__file__).with_name("cases.jsonl")
NOW = datetime(2026, 1, 1, tzinfo=UTC)
CWD = "/home/dev/shop"


def run() -> dict[str, Any]:
    tally = {
        half: {"expected": 0, "found": 0, "extracted": 0, "right": 0, "cases": 0} for half in ("dev", "held")
    }
    details = []
    for line in CASES.read_text().splitlines():
        case = json.loads(line)
        findings = extract(events_of(case), NOW)
        met = [any(_meets(found, wanted) for found in findings) for wanted in case["expect"]]
        right = [any(_meets(found, wanted) for wanted in case["expect"]) for found in findings]
        half = tally[case["half"]]
        half["cases"] += 1
        half["expected"] += len(met)
        half["found"] += sum(met)
        half["extracted"] += len(right)
        half["right"] += sum(right)
        wrong = [
            f"{found.kind}: {found.content}" for found, good in zip(findings, right, strict=True) if not good
        ]
        missed = [wanted for wanted, good in zip(case["expect"], met, strict=True) if not good]
        if wrong or missed:
            details.append({"id": case["id"], "half": case["half"], "wrong": wrong, "missed": missed})
    return {"halves": tally, "details": details}


def events_of(case: dict[str, Any]) -> Iterator[Event]:
    """Each line of a case is `[who, …]`: user, assistant, injected, run, edit or read."""
    order = 0

    def event(author: str, text: str = "", **more: Any) -> Event:
        nonlocal order
        order += 1
        return Event(case["id"], order - 1, author, text, cwd=CWD, **more)

    for who, *what in case["events"]:
        if who in (USER, ASSISTANT):
            yield event(who, what[0])
        elif who == "injected":
            yield event(USER, what[0], injected=True)
        elif who == "run":
            command, ok, output = what
            yield event(ASSISTANT, tool="Bash", call=f"c{order}", input={"command": command})
            yield event(TOOL, output, tool="Bash", call=f"c{order - 1}", failed=not ok)
        else:
            tool = {"edit": "Edit", "read": "Read"}[who]
            yield event(ASSISTANT, tool=tool, call=f"c{order}", input={"file_path": f"{CWD}/{what[0]}"})
            yield event(
                TOOL, what[1] if len(what) > 1 else "ok", tool=tool, call=f"c{order - 1}", failed=False
            )


def _meets(found: Finding, wanted: dict[str, Any]) -> bool:
    content = found.content.lower()
    return found.kind in wanted["kinds"] and all(word.lower() in content for word in wanted["has"])


def show(found: dict[str, Any]) -> None:
    for half, count in found["halves"].items():
        print(
            f"{half:<5} {count['cases']} cases   precision {ratio(count['right'], count['extracted'])}   "
            f"recall {ratio(count['found'], count['expected'])}   (target ≥ 0.7)"
        )


def explain(details: list[dict[str, Any]], halves: tuple[str, ...]) -> None:
    for case in details:
        if case["half"] in halves:
            print(f"{case['id']} ({case['half']})")
            for what in ("wrong", "missed"):
                for each in case[what]:
                    print(f"    {what}: {each}")


def ratio(part: int, whole: int) -> str:
    return f"{part / whole:.2f} ({part} of {whole})" if whole else f"– (0 of {whole})"
