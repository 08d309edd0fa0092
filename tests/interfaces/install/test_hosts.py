"""The table of hosts, and what is made from it."""

import json
import re
import tomllib
from dataclasses import replace
from pathlib import Path

import pytest

from recollect.interfaces.install import templates
from recollect.interfaces.install.bundles import FOLDER, bundles
from recollect.interfaces.install.entries import hook_entries, is_ours, program_of, server_entry
from recollect.interfaces.install.machine import Machine, running_program
from recollect.memory.briefing.render import FORMATS
from recollect.work.hosts.registry import BRIEFING_FORMATS, HOSTS
from recollect.work.transcripts.injected import own_words

ROOT = Path(__file__).parents[3]
MACHINE = Machine(Path("/home/me"), ("/opt/my venv/bin/recollect",), {}, "linux")


def test_the_hosts_are_those_that_a_briefing_can_be_written_for():
    assert set(HOSTS) <= set(BRIEFING_FORMATS)
    assert set(BRIEFING_FORMATS.values()) <= set(FORMATS)


@pytest.mark.parametrize("host", HOSTS)
def test_no_hook_is_installed_for_an_event_that_means_nothing_to_us(host):
    entries = dict(hook_entries(HOSTS[host], MACHINE))
    unknown = [event for event in entries if HOSTS[host].hook(event) is None]

    assert unknown == []
    assert bool(entries) == (HOSTS[host].hook_entry is not None)


def test_the_plugin_and_the_extension_are_what_the_table_says():
    stale = [name for name, text in bundles().items() if (FOLDER / name).read_text(encoding="utf-8") != text]

    assert stale == [], "run `python -m recollect.interfaces.install.bundles`"


def test_the_marketplace_leads_to_the_plugin():
    market = json.loads((ROOT / ".claude-plugin/marketplace.json").read_text())

    folder = ROOT / market["plugins"][0]["source"]

    assert (
        json.loads((folder / ".claude-plugin/plugin.json").read_text())["name"]
        == market["plugins"][0]["name"]
    )
    assert (folder / "hooks/hooks.json").exists()
    assert (folder / "skills/long-term-memory/SKILL.md").exists()


@pytest.mark.parametrize("host", HOSTS)
def test_slash_commands_run_the_program_by_its_path(host):
    texts = {
        name: text for name, text in templates.commands(HOSTS[host], MACHINE) if not name.endswith(".yaml")
    }

    assert len(texts) == len(templates.COMMANDS)
    for text in texts.values():
        body = (
            text.partition("\n")[2]
            if HOSTS[host].commands.format == "toml"
            else text.partition("Written by")[0]
        )
        assert "'/opt/my venv/bin/recollect' " in body
        assert "`recollect " not in body
        assert templates.MARK in text
        assert HOSTS[host].commands.arguments == "$ARGUMENTS" or "$ARGUMENTS" not in text


def test_the_command_that_consolidates_may_run_and_runs_all_that_it_names():
    text = templates.command_text(HOSTS["claude-code"], "consolidate", "/opt/my tools/recollect")

    allowed = re.search(r"^allowed-tools: (.*)$", text, re.M)[1]
    told = re.findall(r"`/opt/my tools/recollect ([a-z]+)( -)?", text)

    assert allowed == "Bash(/opt/my tools/recollect consolidate:*), Bash(/opt/my tools/recollect describe:*)"
    assert told == [("consolidate", ""), ("review", ""), ("undo", ""), ("describe", ""), ("describe", " -")]


def test_the_commands_of_gemini_are_toml():
    for name, text in templates.commands(HOSTS["gemini"], MACHINE):
        assert {"description", "prompt"} == set(tomllib.loads(text)), name


@pytest.mark.parametrize("host, taken", [("claude-code", "memory.md"), ("gemini", "memory.toml")])
def test_a_command_that_the_host_has_itself_gets_another_name(host, taken):
    names = [name for name, _ in templates.commands(HOSTS[host], MACHINE)]

    assert taken not in names
    assert taken.replace("memory", "recollect") in names


def test_what_is_injected_states_facts():
    texts = [templates.rules(MACHINE), templates.skill(MACHINE)]

    for text in texts:
        assert not any(word in text.lower() for word in ("you must", "always ", "never ", "important:"))


@pytest.mark.parametrize(
    "value, ours",
    [
        ({"command": "/x/recollect", "args": ["mcp"]}, True),
        ({"command": ["C:\\x\\recollect.exe", "mcp"]}, True),
        ({"command": "'/my venv/recollect' hook codex Stop"}, True),
        ({"command": "/usr/bin/python", "args": ["-m", "recollect", "hook", "cursor", "stop"]}, True),
        ({"command": "[ ! -x /x/recollect-hook ] || exec /x/recollect-hook codex Stop"}, True),
        ({"command": "'/my venv/recollect-hook' codex Stop"}, True),
        ({"command": "recollect-hooks codex Stop"}, False),
        ({"hooks": [{"command": "recollect hook codex Stop"}]}, True),
        ({"hooks": [{"command": "recollect hook codex Stop"}, {"command": "lint"}]}, False),
        ({"hooks": []}, False),
        ({"command": "recollector hook x"}, False),
        ({"command": "recollect search x"}, False),
        ({"command": "my-recollect mcp"}, False),
        ({"command": 1}, False),
        ("recollect mcp", False),
        (None, False),
    ],
)
def test_our_entries_are_known_by_what_they_start(value, ours):
    assert is_ours(value) is ours


@pytest.mark.parametrize(
    "value, program",
    [
        ({"command": "/x/recollect", "args": ["mcp"]}, "/x/recollect"),
        ({"command": ["/x/recollect", "mcp"]}, "/x/recollect"),
        ({"hooks": [{"command": "'/my venv/recollect' hook codex Stop"}]}, "/my venv/recollect"),
        ({"command": "C:\\bin\\recollect.exe hook codex Stop"}, "C:\\bin\\recollect.exe"),
    ],
)
def test_the_program_of_an_entry_is_found(value, program):
    assert program_of(value) == program


def test_a_hook_line_names_its_program():
    machine = Machine(Path("/home/me"), ("/opt/my venv/bin/recollect",), {}, "linux")
    line = machine.hook_line((*machine.program, "hook", "codex", "Stop"))

    assert is_ours({"command": line})
    assert program_of({"command": line}) == "/opt/my venv/bin/recollect"


def test_the_running_program_is_named_by_its_path():
    assert Path(running_program()[0]).is_absolute()
    assert Path(running_program()[0]).exists()


@pytest.mark.parametrize(
    "platform, variables, expected",
    [
        ("linux", {}, "/home/me/.config/Code"),
        ("linux", {"XDG_CONFIG_HOME": "/x"}, "/x/Code"),
        ("darwin", {}, "/home/me/Library/Application Support/Code"),
        ("win32", {}, "/home/me/AppData/Roaming/Code"),
    ],
)
def test_vs_code_is_where_its_platform_has_it(platform, variables, expected):
    machine = Machine(Path("/home/me"), ("x",), variables, platform)

    assert machine.path(HOSTS["vscode"], HOSTS["vscode"].folder, Path("/")) == Path(expected)


def test_a_windows_command_line_is_quoted_the_windows_way():
    from recollect.interfaces.install.entries import hook_entry

    machine = Machine(Path("/u"), ("C:\\my venv\\recollect.exe",), {}, "win32")

    entry = hook_entry(HOSTS["cursor"], HOSTS["cursor"].hooks[0], machine)

    assert entry["command"] == '"C:\\my venv\\recollect.exe" hook cursor sessionStart'


@pytest.mark.parametrize("host", HOSTS)
def test_the_page_of_a_host_tells_what_happens_at_each_event(host):
    page = (ROOT / "docs/hosts" / f"{host}.md").read_text(encoding="utf-8")
    rows = [
        f"| `{hook.event}` | {hook.summary} | {'yes' if hook.injects else '–'} |"
        for hook in HOSTS[host].hooks
        if hook.is_installed
    ]

    assert [row for row in rows if row not in page] == []
    assert page.startswith(f"# {HOSTS[host].title}\n")


@pytest.mark.parametrize("name", templates.COMMANDS)
@pytest.mark.parametrize("host", ["claude-code", "gemini", "opencode"])
def test_only_what_was_typed_after_a_command_counts_as_the_users_words(host, name):
    typed = "Use `rg` here, not grep.\n\nRun `make lint` too."
    text = templates.command_text(HOSTS[host], name, "/opt/my tools/recollect")
    prompt = tomllib.loads(text)["prompt"] if host == "gemini" else text.split("---\n\n", 1)[1]

    words = own_words(prompt.replace(HOSTS[host].commands.arguments, typed))

    assert words == (typed if name == "remember" else "")


@pytest.mark.parametrize("name", ["claude-code", "codex", "gemini", "opencode"])
def test_hooks_are_started_by_the_script_for_hooks_if_there_is_one(name):
    machine = replace(MACHINE, hook_program=("/opt/bin/recollect-hook",))
    host = HOSTS[name]

    text = (
        templates.plugin(host, machine)
        if host.hook_entry is None
        else json.dumps(hook_entries(host, machine))
    )

    assert "/opt/bin/recollect-hook" in text
    assert 'bin/recollect"' not in text
    assert "/opt/my venv" in json.dumps(server_entry(host, machine))
