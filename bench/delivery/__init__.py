"""What reaches the agent for a prompt: the useful memories and the right files, and nothing where nothing is known.

- `datasets`: the projects of bench/data/delivery, as stores
- `systems`: the ways in which an agent is told something
- `measure`: useful and wrong memories
- `refit`: probabilities compared with what was used in a real store
- `files`: right files for commits, and none for prompts that concern no file
"""

from typing import Any

from bench.delivery import files, measure


def run(split: str = "all") -> dict[str, Any]:
    memories = measure.run(split)
    return {"memories": memories, "files": files.run(split), "details": memories.pop("details")}


def show(result: dict[str, Any]) -> None:
    measure.show(result["memories"])
    print()
    files.show(result["files"])
