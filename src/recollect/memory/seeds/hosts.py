"""For which host an instruction file is written. What it says is no convention of other hosts."""

import recollect.model as m

# By the path or folder of the file; the first match counts. Files that are not listed are for everybody.
_FILES = {
    "claude-code": ("CLAUDE.md", ".claude/"),
    "gemini": ("GEMINI.md",),
    "cursor": (".cursorrules", ".cursor/"),
    "windsurf": (".windsurfrules", ".windsurf/"),
    "vscode": (".github/copilot-instructions.md", ".github/instructions/"),
    "other": (
        "QWEN.md", "WARP.md", "CRUSH.md", "replit.md", ".clinerules", ".roorules", ".roo/", ".goosehints", ".rules", ".junie/",
        ".idx/", ".continue/", ".kiro/", ".amazonq/", ".trae/", ".augment/", ".aiassistant/", ".openhands/",
    ),
}  # fmt: skip


def host_of(source: str) -> str | None:
    """Return the host that a seed's source, such as "GEMINI.md:3", is written for; None = for every agent."""
    path = source.rpartition(":")[0] or source
    name = path.rpartition("/")[2]
    for host, files in _FILES.items():
        if any(path.startswith(file) if file.endswith("/") else file in (path, name) for file in files):
            return host
    return "other" if path.startswith(".clinerules/") else None


def is_for_host(memory: m.Memory, host: str) -> bool:
    """Return whether a memory may be shown in `host`: it is no proposal, or comes from no other host's instructions."""
    return not memory.is_proposal or host_of(memory.provenance[0].snippet) in (None, host)
