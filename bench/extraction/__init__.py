"""How well findings are extracted: on real traces, judged by hand, on short cases of our own, and on judged sessions.

See RUBRIC.md.
"""

from typing import Any


def run() -> dict[str, Any]:
    from bench.extraction import cases, judged_sessions, traces

    found = {"cases": cases.run(), "traces": traces.run(), "sessions": judged_sessions.run()}
    # Apart, for figures are kept in a file and what stands in the traces is not ours to keep.
    return found | {"details": {name: part.pop("details", None) for name, part in found.items()}}


def show(found: dict[str, Any]) -> None:
    from bench.extraction import cases, judged_sessions, traces

    print("-- hand-written cases")
    cases.show(found["cases"])
    print("-- real traces")
    if "skipped" in found["traces"]:
        print(f"skipped: {found['traces']['skipped']}")
    else:
        traces.show(found["traces"])
    print("-- judged sessions: what becomes a memory")
    judged_sessions.show(found["sessions"])
