"""How well secrets are found: recall, false alarms by group, and time.

Needs `../shared/data/secrets_dev.jsonl.gz` beside the repository, which is not ours to ship; without it
the bench says so and is skipped. The sets of `bench/data` were written apart from the rules. Run with
`python -m bench.secrets`; `-v` lists what was missed, but of the unseen half only totals.
`python -m bench.secrets --file FILE…` counts other texts in the format of `bench/data`, and prints totals only.
"""

import contextlib
import gzip
import json
import re
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from bench import judgement
from bench.judgement import SECRET_HALVES
from recollect import Engine
from recollect.errors import Refused
from recollect.text.redact import redact

DATA = Path(__file__).resolve().parents[2] / "shared" / "data" / "secrets_dev.jsonl.gz"

MEMORY = "The refresh token TTL is 3600 seconds; password reset lives in src/auth/reset.py, see docs/auth.md."
NOTES = (
    MEMORY + " Use pnpm 9.1.2, never npm; the API listens on port 8080 (see commit 98a7f9fcf09f).\n"
) * 11


def run() -> dict[str, Any]:
    if not DATA.exists():
        return {"skipped": f"needs {DATA}"}
    rows = [json.loads(line) for line in gzip.decompress(DATA.read_bytes()).decode().splitlines()]
    missed, leaked, alarms = [], [], []
    groups: Counter[str] = Counter()
    for row in rows:
        text, found = redact(row["text"])
        if row["label"] == 0:
            groups[_group(row["type"])] += 1
            if found:
                alarms.append((row["type"], row["text"], text))
        elif not found:
            missed.append((row["type"], row["text"], text))
        elif _leaks(row["text"], text):
            leaked.append((row["type"], row["text"], text))
    positives = sum(row["label"] for row in rows)
    by_group = Counter(_group(type) for type, _, _ in alarms)
    return {
        "positives": positives,
        "recall": 1 - len(missed) / positives,
        "leaked": len(leaked),
        "false_alarms": {group: (by_group[group], total) for group, total in sorted(groups.items())},
        "ms_per_2kb": _milliseconds(NOTES[:2048]),
        "ms_per_memory": _milliseconds(MEMORY[:100]),
        "disk": _on_disk(rows),
        "apart": {half: _apart(judgement.secrets(half)) for half in SECRET_HALVES},
        "details": {"missed": missed, "leaked": leaked, "alarms": alarms},
    }


def _apart(rows: Iterable[judgement.LabelledText]) -> dict[str, int]:
    """Count secrets and look-alikes in texts that were written apart from the rules."""
    counts: Counter[str] = Counter(secrets=0, found=0, others=0, alarms=0)
    for row in rows:
        text, found = redact(row.text)
        size = min(8, len(row.secret))
        left = any(row.secret[at : at + size] in text for at in range(len(row.secret) - size + 1))
        if row.secret:
            counts.update(secrets=1, found=int(bool(found) and not left))
        else:
            counts.update(others=1, alarms=int(bool(found)))
    return dict(counts)


def _group(type: str) -> str:
    return type.partition(":")[0]


def _leaks(text: str, redacted: str) -> bool:
    """Whether 8 characters in a row of a secret are still there.

    The data does not say which part is the secret; what is left must be plain: no quoted value after a
    `key =`, and no run of 16 that has lower case, upper case and digits.
    """
    quoted = re.search(r"[=:]\s*[\"']([^\"'\s]{8,})[\"']\s*[,;)]*$", text)
    if (
        quoted
        and "://" not in quoted[1]
        and any(quoted[1][i : i + 8] in redacted for i in range(len(quoted[1]) - 7))
    ):
        return True
    runs = re.findall(r"[A-Za-z0-9+/_-]{16,}", redacted)
    return any(
        re.search(r"\d", run) and re.search(r"[a-z]", run) and re.search(r"[A-Z]", run) for run in runs
    )


def _milliseconds(text: str, times: int = 300) -> float:
    redact(text)
    start = time.perf_counter()
    for _ in range(times):
        redact(text)
    return (time.perf_counter() - start) / times * 1000


def _on_disk(rows: list[dict[str, Any]], count: int = 200) -> dict[str, int]:
    """Write `count` secrets through `remember`, then look for eight characters of any in every file of the home."""
    values = {
        text: value for row in rows if row["label"] and (text := row["text"]) and (value := _value(text))
    }
    chosen = list(values.items())[:count]
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder, "home")
        with Engine.open(folder, home) as engine:
            for text, _ in chosen:
                with contextlib.suppress(Refused):  # longer than a memory may be: not written either
                    engine.remember(text)
            engine.backup()
            with Path(home, "export.json").open("w") as out:
                engine.export(out)
            files = [
                path.read_bytes() for path in home.rglob("*") if path.is_file()
            ]  # with the log still open
        files += [path.read_bytes() for path in home.rglob("*") if path.is_file()]
    left = [value for _, value in chosen if any(_runs(value) & _runs_of(file, value) for file in files)]
    return {"written": len(chosen), "found on disk": len(left)}


def _value(text: str) -> str | None:
    """The secret in `text`: what is quoted after a name, or its longest run with letters and digits."""
    quoted = re.search(r"[=:]\s*[\"']([^\"'\s]{8,})[\"']\s*[,;)]*$", text)
    runs = [quoted[1]] if quoted else re.findall(r"[A-Za-z0-9+/_-]{20,}", text)
    runs = [run for run in runs if re.search(r"\d", run) and re.search(r"[A-Za-z]", run)]
    return max(runs, key=len, default=None) if redact(text)[1] else None


def _runs(value: str) -> set[bytes]:
    return {value[i : i + 8].encode() for i in range(len(value) - 7)}


def _runs_of(file: bytes, value: str) -> set[bytes]:
    return {run for run in _runs(value) if run in file}


def show(result: dict[str, Any]) -> None:
    print(f"recall               {result['recall']:.3f}  of {result['positives']}   (target ≥ 0.95)")
    print(f"partly left behind   {result['leaked']}")
    for group, (alarms, total) in result["false_alarms"].items():
        print(f"false alarms {group:<12} {alarms} of {total}{'   (target ≤ 1)' if group == 'neg' else ''}")
    for half, count in result["apart"].items():
        _show_apart(half, count)
    print(f"ms per 2 KB          {result['ms_per_2kb']:.3f}   (target ≤ 5)")
    print(f"ms per 100 chars     {result['ms_per_memory']:.3f}")
    print(f"secrets written      {result['disk']['written']}")
    print(f"  8 characters found {result['disk']['found on disk']}   (target 0)")


def _show_apart(name: str, count: dict[str, int]) -> None:
    print(
        f"apart, {name:<13} {count['found']} of {count['secrets']}, false {count['alarms']} of {count['others']}"
    )


def main() -> None:
    if "--file" in sys.argv:
        for path in map(Path, sys.argv[sys.argv.index("--file") + 1 :]):
            _show_apart(path.name, _apart(judgement.secrets_of(path)))
        return
    result = run()
    if "skipped" in result:
        print(f"skipped: {result['skipped']}")
        return
    show(result)
    if "-v" in sys.argv:
        for name, rows in result["details"].items():
            for type, before, after in rows:
                print(f"{name}: {type}\n    {before[:200]!r}\n    {after[:200]!r}")


if __name__ == "__main__":
    main()
