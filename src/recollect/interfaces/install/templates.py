"""The texts that we put into hosts' folders: slash commands, the skill, rules, plugins.

The templates below `files/` are written as the Claude Code plugin has them, with `recollect` on the path. What is
installed names the program by its path instead, so that it runs from anywhere.
"""

import json
import re
from importlib.resources import files

from recollect.interfaces.install.machine import Machine
from recollect.work.hosts.host import Host

MARK = "Written by `recollect install`"
COMMANDS = ("remember", "forget", "pin", "memory", "consolidate")
_FOLDER = files("recollect.interfaces.install") / "files"
_FRONT = re.compile(r"\A---\n(.*?)\n---\n\n?", re.S)
_TYPED = "$ARGUMENTS"


def commands(host: Host, machine: Machine) -> list[tuple[str, str]]:
    """Return the file names and texts of the slash commands, in the format the host takes."""
    names, suffix = host.commands.renamed, host.commands.suffix
    texts = [
        (names.get(name, name) + suffix, command_text(host, name, _program(machine))) for name in COMMANDS
    ]
    if host.commands.format == "skill":
        policy = f"# {MARK}.\npolicy:\n  allow_implicit_invocation: false\n"  # the model is not offered them
        texts += [(f"{name}/agents/openai.yaml", policy) for name in COMMANDS]
    return texts


def command_text(host: Host, name: str, program: str | None = None) -> str:
    """Return the text of a command that runs `program`; without one, as a plugin or an extension has it."""
    text = _read(f"claude-code/commands/{name}.md")
    front = _FRONT.match(text)
    assert front is not None
    head, body = front[1], text[front.end() :]
    described = re.search(r"^description: (.*)$", head, re.M)
    about = described[1] if described else ""
    body = body.replace(_TYPED, host.commands.arguments or "(what the user wrote after the command)")
    mark = ""
    if program is not None:
        body, head = _with_program(body, program), _with_program(head, program)
        mark = f"<!-- {MARK}; `recollect uninstall {host.name}` removes it. -->\n"
    if host.commands.format == "toml":
        comment = f"# {mark[5:-5]}\n" if mark else ""
        # One JSON string would be TOML too, but people read these files.
        quoted = body.strip().replace("'''", "' ''")
        return (
            f"{comment}description = {json.dumps(about, ensure_ascii=False)}\nprompt = '''\n{quoted}\n'''\n"
        )
    if host.commands.format == "plain":
        return f"{body.strip()}\n" + (f"\n{mark}" if mark else "")
    if not host.commands.front_matter:
        head = f"description: {about}"
    if host.commands.format == "skill":
        head = f"name: {name}\n{head}"
    return f"---\n{head}\n---\n\n{body.strip()}\n" + (f"\n{mark}" if mark else "")


def skill(machine: Machine) -> str:
    """Return the skill that tells agents when to search and when to record."""
    text = _with_program(_read("claude-code/skills/long-term-memory/SKILL.md"), _program(machine))
    return f"{text.rstrip()}\n\n<!-- {MARK}. -->\n"


def rules(machine: Machine) -> str:
    """Return our part of a rules file."""
    return _with_program(_read("rules.md"), _program(machine)).strip()


def plugin(host: Host, machine: Machine) -> str:
    """Return the plugin of a host that is not configured with hooks."""
    text = _read(host.plugin_template)
    words = json.dumps(list(machine.hook_start), ensure_ascii=False)
    return f"// {MARK}.\n" + text.replace('const PROGRAM = ["recollect", "hook"]', f"const PROGRAM = {words}")


def _read(name: str) -> str:
    return (_FOLDER / name).read_text(encoding="utf-8")


def _program(machine: Machine) -> str:
    return machine.command_line(machine.program)


def _with_program(text: str, program: str) -> str:
    """Return the text with `program` wherever a command of ours begins, in backticks or in a permission."""
    return re.sub(r"(?<=`|\()recollect (?=[a-z-])", lambda _: f"{program} ", text)
