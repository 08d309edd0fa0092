"""Reads real transcripts of several hosts: are all recognised, is all in them told, and how fast.

Needs `../shared/data/traces` beside the repository, which is not ours to ship; without it the bench says so and
is skipped. Run with `python -m bench.transcripts`; `-v` lists what was skipped and what was left out.
"""

import gzip
import json
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

from recollect.work.hosts.transcripts import detect, read
from recollect.work.transcripts.event import Event
from recollect.work.transcripts.reading import Report

DATA = Path(__file__).resolve().parents[2] / "shared" / "data" / "traces"


def run() -> dict[str, Any]:
    index = DATA / "INDEX.json"
    if not index.exists():
        return {"skipped": f"needs {DATA}"}
    rows = [_measure(entry) for entry in json.loads(index.read_text())]
    return {
        "files": len(rows),
        "recognised": sum(row["format"] == row["expected"] for row in rows),
        "events": sum(row["events"] for row in rows),
        "lines_skipped": sum(row["skipped"] for row in rows),
        "lost": sum(row["lost"] for row in rows),
        "mb_per_s": sum(row["mb"] for row in rows) / sum(row["seconds"] for row in rows),
        "rows": rows,
    }


def _measure(entry: dict[str, Any]) -> dict[str, Any]:
    path = DATA / entry["file"]
    report = Report()
    found = detect(path)
    begin = time.perf_counter()
    told = Counter(_what(event) for event in read(path, report=report))
    seconds = time.perf_counter() - begin
    raw = gzip.decompress(path.read_bytes()).decode()
    lost = _counted(entry["format"], raw) - told
    return {
        "file": entry["file"],
        "expected": entry["format"],
        "format": found,
        "events": report.events,
        "sessions": len(report.sessions),
        "lines": report.lines,
        "skipped": report.skipped,
        "left_out": dict(report.left_out),
        "problems": [
            f"{Path(problem.file).name}:{problem.line}: {problem.reason}" for problem in report.problems
        ],
        "lost": sum(lost.values()),
        "mb": len(raw.encode()) / 1e6,
        "seconds": seconds,
    }


def _what(event: Event) -> str:
    return "call" if event.is_call else "answer" if event.is_answer else f"said by {event.author}"


def _counted(format: str, raw: str) -> Counter[str]:
    """The least that must be told, counted from the file by other means than the readers'."""
    if format == "aider":
        return Counter(call=raw.count("\n> Applied edit to "))
    if format == "swe-agent":
        steps = len(json.loads(raw)["trajectory"])
        return Counter({"call": steps, "answer": steps, "said by user": 1})
    records = [json.loads(line) for line in raw.splitlines()]
    if format == "openhands":
        happened = [event for record in records for event in record["history"]]
        observed = [event for event in happened if event.get("observation") not in (None, "recall")]
        acted = [
            event for event in happened if event.get("tool_call_metadata") and event.get("action") != "finish"
        ]
        said = [event for event in happened if event.get("action") == "message"]
        return Counter(answer=len(observed), call=sum("action" in event for event in acted)) + Counter(
            f"said by {'user' if event['source'] == 'user' else 'assistant'}" for event in said
        )
    counted: Counter[str] = Counter()
    for record in records:
        if not isinstance(record, dict) or record.get("type") not in ("user", "assistant"):
            continue
        message = record["message"]
        content = message.get("content") if isinstance(message, dict) else None
        for block in content if isinstance(content, list) else [content]:
            kind = block.get("type") if isinstance(block, dict) else "text"
            text = block.get("text") if isinstance(block, dict) else block
            if kind in ("tool_use", "tool_result"):
                counted["call" if kind == "tool_use" else "answer"] += 1
            elif kind == "text" and text and text.strip() and not text.startswith("<task-notification>"):
                counted[f"said by {record['type']}"] += 1
    return counted


def show(result: dict[str, Any], verbose: bool = False) -> None:
    print(
        f"{'file':<26}{'format':<13}{'events':>7}{'sessions':>9}{'lines':>7}{'skipped':>8}{'lost':>5}{'MB/s':>7}"
    )
    for row in result["rows"]:
        speed = row["mb"] / row["seconds"]
        print(
            f"{row['file']:<26}{row['format']:<13}{row['events']:>7}{row['sessions']:>9}{row['lines']:>7}"
            f"{row['skipped']:>8}{row['lost']:>5}{speed:>7.1f}"
        )
        if verbose:
            for problem in row["problems"]:
                print(f"    {problem}")
            if row["left_out"]:
                print("    left out: " + ", ".join(f"{kind} {n}" for kind, n in row["left_out"].items()))
    print(f"recognised   {result['recognised']} of {result['files']}")
    print(f"events       {result['events']}")
    print(f"skipped      {result['lines_skipped']} lines")
    print(f"lost         {result['lost']}   (target 0)")
    print(f"speed        {result['mb_per_s']:.1f} MB/s")


if __name__ == "__main__":
    figures = run()
    if "rows" in figures:
        show(figures, verbose="-v" in sys.argv[1:])
    else:
        print(f"skipped: {figures['skipped']}")
