"""Texts that we put into hosts' folders: slash commands, the skill, rules, the OpenCode plugin.

They are files below `files/`, written as they stand in the Claude Code plugin, where `recollect` is on the path. What
is installed names the program by its path instead, so that it runs from anywhere.
"""

import json
import re
from importlib.resources import files

from recollect.interfaces.install.entries import command_line
from recollect.interfaces.install.table import Host, Machine

MARK = "Written by `recollect install`"
COMMANDS = ("remember", "forget", "pin", "memory", "consolidate")
_FOLDER = files("recollect.interfaces.install") / "files"
_FRONT = re.compile(r"\A---\n(.*?)\n---\n\n?", re.S)
_TYPED = "$ARGUMENTS"


def commands(host: Host, machine: Machine) -> list[tuple[str, str]]:
    """File names and texts of the slash commands, in the form this host takes."""
    names = dict(host.renamed)
    suffix = {"toml": ".toml", "prompt": ".prompt.md"}.get(host.command_shape, ".md")
    return [
        (names.get(name, name) + suffix, command_text(host, name, _program(machine))) for name in COMMANDS
    ]


def command_text(host: Host, name: str, program: str | None = None) -> str:
    """As it is installed to run `program`; without one as it stands in a plugin or an extension."""
    text = _read(f"claude-code/commands/{name}.md")
    front = _FRONT.match(text)
    assert front is not None
    head, body = front[1], text[front.end() :]
    described = re.search(r"^description: (.*)$", head, re.M)
    about = described[1] if described else ""
    body = body.replace(_TYPED, host.arguments or "(what the user wrote after the command)")
    mark = ""
    if program is not None:
        body, head = _with_program(body, program), _with_program(head, program)
        mark = f"<!-- {MARK}; `recollect uninstall {host.name}` takes it away. -->\n"
    if host.command_shape == "toml":
        comment = f"# {mark[5:-5]}\n" if mark else ""
        # One JSON string would be TOML too, but people read these files.
        quoted = body.strip().replace("'''", "' ''")
        return (
            f"{comment}description = {json.dumps(about, ensure_ascii=False)}\nprompt = '''\n{quoted}\n'''\n"
        )
    if host.command_shape == "plain":
        return f"{body.strip()}\n" + (f"\n{mark}" if mark else "")
    if host.name not in ("claude-code", "codex"):
        head = f"description: {about}"
    return f"---\n{head}\n---\n\n{body.strip()}\n" + (f"\n{mark}" if mark else "")


def skill(machine: Machine) -> str:
    text = _with_program(_read("claude-code/skills/recollect/SKILL.md"), _program(machine))
    return f"{text.rstrip()}\n\n<!-- {MARK}. -->\n"


def rules(host: Host, scope: str, machine: Machine) -> tuple[str, str]:
    """What a new rules file begins with, and our part of it."""
    body = _with_program(_read("rules.md"), _program(machine)).strip()
    if host.name == "cursor":
        return "---\ndescription: Long-term memory of this project\nalwaysApply: true\n---\n", body
    if host.name == "windsurf" and scope == "project":
        return "---\ntrigger: always_on\n---\n", body
    if host.name == "vscode" and scope == "user":
        return '---\napplyTo: "**"\n---\n', body
    return "", body


def plugin(machine: Machine) -> str:
    """The OpenCode plugin."""
    text = _read("opencode/recollect.js")
    words = json.dumps(list(machine.program), ensure_ascii=False)
    return f"// {MARK}.\n" + text.replace('const PROGRAM = ["recollect"]', f"const PROGRAM = {words}")


def _read(name: str) -> str:
    return (_FOLDER / name).read_text(encoding="utf-8")


def _program(machine: Machine) -> str:
    return command_line(machine.program, machine.platform)


def _with_program(text: str, program: str) -> str:
    """Where a command begins, in backticks or in what a command may run."""
    return re.sub(r"(?<=`|\()recollect (?=[a-z-])", lambda _: f"{program} ", text)
