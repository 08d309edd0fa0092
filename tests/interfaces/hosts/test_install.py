"""Installing into every host's files, and leaving them as they were."""

import json
import stat
import tomllib
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings

from jsonc_texts import texts
from recollect.errors import Refused
from recollect.interfaces.hosts import rules
from recollect.interfaces.hosts.change import Change, apply
from recollect.interfaces.hosts.entries import is_ours
from recollect.interfaces.hosts.ledger import Ledger
from recollect.interfaces.hosts.plan import carry_out
from recollect.interfaces.hosts.table import HOSTS
from recollect.text import jsonc

SCOPES = ["user", "project"]
EVERY = [(host, scope) for host in HOSTS for scope in SCOPES]
SETTINGS = ".claude/settings.json"
OTHERS = b"""\
// my settings
{
\t"model": "opus", // the big one
\t"hooks": {
\t\t/* a linter */
\t\t"PostToolUse": [
\t\t\t{ "matcher": "Edit", "hooks": [{ "type": "command", "command": "lint --fix" }] }, // keep
\t\t],
\t},
}
"""


@pytest.mark.parametrize("host, scope", EVERY)
def test_installing_and_uninstalling_leaves_nothing_behind(desk, host, scope):
    before = desk.files()

    desk.install(host, scope)
    during = desk.files()
    desk.uninstall(host, scope)

    assert during != before
    assert desk.files() == before
    assert desk.ledger.records() == []


@pytest.mark.parametrize("host, scope", EVERY)
def test_installing_again_changes_nothing(desk, host, scope):
    desk.install(host, scope)
    before = desk.files()

    again = desk.install(host, scope)

    assert again.changes == ()
    assert desk.files() == before


@pytest.mark.parametrize("host", HOSTS)
def test_every_event_starts_the_program_by_its_path(desk, host):
    desk.install(host, "user")
    desk.install(host, "project")

    written = "".join(text.decode() for text in desk.files().values() if text)
    called = [hook.event for hook in HOSTS[host].hooks]

    assert desk.machine.program[0] in written
    assert [event for event in called if event not in written] == []
    assert "mcp" in written


@pytest.mark.parametrize(
    "name, host",
    [
        (SETTINGS, "claude-code"),
        (".claude.json", "claude-code"),
        (".codex/hooks.json", "codex"),
        (".gemini/settings.json", "gemini"),
        (".config/opencode/opencode.json", "opencode"),
        (".config/opencode/opencode.jsonc", "opencode"),
        (".cursor/hooks.json", "cursor"),
        (".cursor/mcp.json", "cursor"),
        (".config/Code/User/mcp.json", "vscode"),
        (".codeium/windsurf/hooks.json", "windsurf"),
        (".codeium/windsurf/mcp_config.json", "windsurf"),
    ],
)
@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\n",
        b"{}",
        b"{ }\n",
        b"\xef\xbb\xbf{}\r\n",
        b'{"hooks": {}, "mcpServers": {}, "servers": {}, "mcp": {}}',
        OTHERS,
        OTHERS.replace(b"\n", b"\r\n"),
        b"// nothing but a remark",
    ],
)
def test_a_configuration_gets_its_very_bytes_back(desk, name, host, data):
    path = desk.write(name, data)

    desk.install(host)
    during = path.read_bytes()
    desk.uninstall(host)

    assert during != data
    assert path.read_bytes() == data


def test_other_tools_hooks_and_comments_stay_where_they_are(desk):
    path = desk.write(SETTINGS, OTHERS)

    desk.install("claude-code")

    text = path.read_text(encoding="utf-8")
    after = jsonc.load(text)["hooks"]["PostToolUse"]
    assert [line for line in OTHERS.decode().splitlines() if line not in text.splitlines()] == []
    assert after[0]["hooks"][0]["command"] == "lint --fix"
    assert is_ours(after[1])
    assert "\n\t\t\t{\n\t\t\t\t" in text, "our entries are indented as theirs are"


@given(text=texts())
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_configuration_gets_its_very_bytes_back(desk, text):
    path = desk.write(SETTINGS, text.encode())

    desk.install("claude-code")
    again = desk.install("claude-code")
    desk.uninstall("claude-code")

    assert again.changes == ()
    assert path.read_bytes() == text.encode()


@given(text=texts())
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_what_someone_else_wrote_meanwhile_stays(desk, text):
    path = desk.write(SETTINGS, text.encode())
    desk.install("claude-code")
    path.write_bytes(jsonc.put(path.read_bytes().decode(), ("theirs",), {"a": 1}).encode())

    desk.uninstall("claude-code")

    assert jsonc.load(path.read_bytes().decode()) == {**jsonc.load(text), "theirs": {"a": 1}}
    path.unlink()


def test_a_file_that_someone_else_wrote_anew_loses_only_our_entries(desk):
    path = desk.write(SETTINGS, OTHERS)
    desk.install("claude-code")
    data = jsonc.load(path.read_bytes().decode())
    data["hooks"]["PostToolUse"][1]["hooks"].append({"type": "command", "command": "theirs"})
    path.write_text(json.dumps(data))

    desk.uninstall("claude-code")

    left = json.loads(path.read_text())
    assert left["model"] == "opus"
    assert [each["command"] for group in left["hooks"]["PostToolUse"] for each in group["hooks"]] == [
        "lint --fix",
        "theirs",
    ]
    assert list(left["hooks"]) == ["PostToolUse"]


def test_an_uninstall_needs_no_ledger(desk, tmp_path):
    path = desk.write(SETTINGS, OTHERS)
    desk.install("claude-code")
    (tmp_path / "home" / "installed.json").unlink()

    desk.uninstall("claude-code")

    assert jsonc.load(path.read_bytes().decode()) == jsonc.load(OTHERS.decode())
    assert not (desk.machine.user / ".claude/commands/remember.md").exists()


def test_another_recollect_takes_over_in_place(desk, tmp_path):
    path = desk.write(SETTINGS, OTHERS)
    desk.install("claude-code")
    other = tmp_path / "other" / "recollect"
    moved = type(desk)(
        type(desk.machine)(desk.machine.user, (str(other),), {}, "linux"), desk.ledger, desk.project
    )

    moved.install("claude-code")

    assert desk.machine.program[0] not in path.read_text(encoding="utf-8")
    assert str(other) in path.read_text(encoding="utf-8")
    moved.uninstall("claude-code")
    assert path.read_bytes() == OTHERS


@pytest.mark.parametrize("name", [SETTINGS, ".claude.json"])
@pytest.mark.parametrize(
    "data, reason",
    [
        (b'{"hooks": {', "line 1"),
        (b"[]", "is no object"),
        (b"1", "is no object"),
        (b'{"hooks": "none", "mcpServers": 1}', "is no object"),
        (b"\xff\xfe{\x00}", "not valid UTF-8"),
    ],
)
def test_what_is_not_understood_is_refused_and_nothing_is_written(desk, name, data, reason):
    desk.write(name, data)
    before = desk.files()

    with pytest.raises(Refused, match=reason) as caught:
        desk.install("claude-code")

    assert str(desk.machine.user / name) in caught.value.message
    assert caught.value.hint
    assert desk.files() == before


def test_a_read_only_file_is_refused_and_nothing_is_written(desk):
    path = desk.write(SETTINGS, b"{}")
    path.chmod(0o444)
    before = desk.files()

    with pytest.raises(Refused, match="read-only"):
        desk.install("claude-code")

    assert desk.files() == before


def test_a_link_stays_a_link_and_what_it_leads_to_is_changed_and_restored(desk):
    real = desk.write("dotfiles/claude.json", OTHERS)
    link = desk.machine.user / SETTINGS
    link.parent.mkdir()
    link.symlink_to(real)

    desk.install("claude-code")
    during = real.read_bytes()
    desk.uninstall("claude-code")

    assert is_ours(jsonc.load(during.decode())["hooks"]["Stop"][0])
    assert link.is_symlink()
    assert real.read_bytes() == OTHERS


@pytest.mark.parametrize("target", ["nowhere/at/all.json", SETTINGS])
def test_a_link_to_nowhere_or_to_itself_is_refused(desk, target):
    link = desk.machine.user / SETTINGS
    link.parent.mkdir()
    link.symlink_to(desk.machine.user / target)

    with pytest.raises(Refused, match=r"settings\.json"):
        desk.install("claude-code")


def test_a_projects_link_that_leads_out_of_it_is_refused(desk):
    secret = desk.write(".bashrc", b"export PATH\n")
    (desk.project / ".cursor/rules").mkdir(parents=True)
    (desk.project / ".cursor/rules/recollect.mdc").symlink_to(secret)

    with pytest.raises(Refused, match="leads out of the project"):
        desk.install("cursor", "project")

    assert secret.read_bytes() == b"export PATH\n"


def test_the_mode_of_a_file_is_kept(desk):
    path = desk.write(".claude.json", b'{"token": "x"}')
    path.chmod(0o600)

    desk.install("claude-code")
    during = path.stat().st_mode
    desk.uninstall("claude-code")

    assert stat.S_IMODE(during) == stat.S_IMODE(path.stat().st_mode) == 0o600


def test_nobody_else_can_read_the_backup_and_it_goes_with_the_installation(desk, tmp_path):
    desk.write(".claude.json", b'{"token": "x"}')
    desk.install("claude-code")
    kept = [
        path for path in (tmp_path / "home/backups/hosts").iterdir() if path.read_bytes() == b'{"token": "x"}'
    ]

    desk.uninstall("claude-code")

    assert [stat.S_IMODE(kept[0].stat().st_mode)] == [0o600] if kept[0].exists() else True
    assert list((tmp_path / "home/backups/hosts").iterdir()) == []


def test_a_file_changed_while_the_user_was_reading_is_not_overwritten(desk):
    path = desk.write(SETTINGS, b"{}")
    plan = desk.plan("claude-code")
    path.write_bytes(b'{"new": 1}')
    before = desk.files()

    with pytest.raises(Refused, match="someone else"):
        carry_out(plan, desk.ledger)

    assert desk.files() == before
    assert desk.ledger.records() == []


def test_if_one_file_cannot_be_written_none_is(desk):
    first, second = desk.write("a.json", b"1"), desk.machine.user / "folder"
    second.mkdir()
    before = desk.files()

    with pytest.raises(Refused):
        apply(
            [
                Change(first, b"1", b"2"),
                Change(desk.machine.user / "b/c.json", None, b"3"),
                Change(second, None, b"4"),
            ]
        )

    assert desk.files() == before


def test_a_server_of_that_name_that_is_not_ours_is_refused(desk):
    desk.write(
        ".cursor/mcp.json", b'{"mcpServers": {"recollect": {"command": "npx", "args": ["recollect-js"]}}}'
    )

    with pytest.raises(Refused, match="not ours"):
        desk.install("cursor")


def test_what_the_user_added_to_our_server_stays(desk):
    desk.install("gemini")
    path = desk.machine.user / ".gemini/settings.json"
    data = json.loads(path.read_text())
    data["mcpServers"]["recollect"]["trust"] = True
    path.write_text(json.dumps(data))

    assert desk.plan("gemini").changes == ()


def test_a_command_file_of_the_users_own_is_left_alone(desk):
    path = desk.write(".claude/commands/remember.md", b"My own way to remember\n")

    plan = desk.install("claude-code")
    desk.uninstall("claude-code")

    assert [note for note in plan.notes if "remember.md is not ours" in note]
    assert path.read_bytes() == b"My own way to remember\n"


def test_a_command_file_that_the_user_changed_is_left_alone(desk):
    desk.install("claude-code")
    path = desk.machine.user / ".claude/commands/pin.md"
    path.write_text(path.read_text() + "And sing.\n")

    plan = desk.uninstall("claude-code")

    assert [note for note in plan.notes if "pin.md was changed since" in note]
    assert path.read_text().endswith("And sing.\n")


def test_codex_keeps_every_line_of_its_configuration(desk):
    config = b'# mine\r\nmodel = "o9" # best\r\n\r\n[mcp_servers.files]\r\ncommand = "files"\r\n'
    path = desk.write(".codex/config.toml", config)

    desk.install("codex")
    during = path.read_bytes()
    path.write_bytes(during + b'\r\n# later\r\n[tui]\r\ntheme = "dark"\r\n')
    desk.uninstall("codex")

    assert during.startswith(config)
    assert b"\n" not in during.replace(b"\r\n", b"")
    assert tomllib.loads(during.decode())["mcp_servers"]["recollect"]["args"] == ["mcp"]
    assert path.read_bytes() == config + b'\r\n# later\r\n[tui]\r\ntheme = "dark"\r\n'


def test_what_codex_noted_about_our_server_goes_with_it(desk):
    path = desk.write(".codex/config.toml", b'model = "o9"\n')
    desk.install("codex")
    allowed = b'\n[mcp_servers.recollect.tools.search_memory]\napproval_mode = "approve"\n'
    path.write_bytes(path.read_bytes() + allowed)

    again = desk.plan("codex")
    desk.uninstall("codex")

    assert again.changes == ()
    assert path.read_bytes() == b'model = "o9"\n'


@pytest.mark.parametrize(
    "data, reason",
    [
        (b"model = \n", "not TOML"),
        (b"mcp_servers = { files = { command = 'x' } }\n", "not TOML"),
        (b"[mcp_servers.recollect]\ncommand = 'other'\n", "not ours"),
    ],
)
def test_a_codex_configuration_that_cannot_be_added_to_is_refused(desk, data, reason):
    path = desk.write(".codex/config.toml", data)

    with pytest.raises(Refused, match=reason):
        desk.install("codex")

    assert path.read_bytes() == data


RULES = [b"", b"# Rules\n", b"# Rules", b"# Rules\r\n\r\nBe kind.\r\n", b"\xef\xbb\xbf# Rules\n\n\n"]


@pytest.mark.parametrize("data", RULES)
def test_a_rules_file_gets_its_very_bytes_back(desk, data):
    path = desk.write(".codeium/windsurf/memories/global_rules.md", data)

    desk.install("windsurf")
    during = path.read_bytes()
    desk.uninstall("windsurf")

    assert during.startswith(data)
    assert b"<!-- recollect:begin -->" in during
    assert path.read_bytes() == data


def test_words_around_our_part_of_a_rules_file_stay(desk):
    path = desk.write(".codeium/windsurf/memories/global_rules.md", b"# Rules\n")
    desk.install("windsurf")
    path.write_bytes(b"Before.\n" + path.read_bytes() + b"\nAfter.\n")

    desk.uninstall("windsurf")

    assert path.read_bytes() == b"Before.\n# Rules\n\nAfter.\n"


def test_broken_markers_are_refused(desk):
    desk.write(".codeium/windsurf/memories/global_rules.md", b"<!-- recollect:begin -->\nand no end\n")

    with pytest.raises(Refused, match=r"global_rules\.md.*broken"):
        desk.install("windsurf")


def test_a_briefing_in_the_rules_file_is_renewed_and_goes_with_it(desk):
    before = desk.files()
    desk.install("cursor", "project")
    path = desk.project / ".cursor/rules/recollect.mdc"

    for briefing in ("Use tabs. <!-- recollect:end -->", "Use spaces."):
        assert rules.renew("cursor", desk.project, briefing)
    text = path.read_text()
    again = desk.plan("cursor", "project")
    desk.uninstall("cursor", "project")

    assert "alwaysApply: true" in text
    assert "Use spaces." in text
    assert "Use tabs." not in text
    assert again.changes == ()
    assert desk.files() == before


def test_a_shared_instructions_file_never_gets_a_briefing(desk):
    desk.install("vscode", "project")

    assert not rules.renew("vscode", desk.project, "Use tabs.")


@pytest.mark.parametrize(
    "host, left",
    [
        ("claude-code", []),
        ("codex", []),
        ("opencode", []),
        ("cursor", [".cursor/rules/recollect.mdc"]),
        ("windsurf", [".windsurf/rules/recollect.md"]),
        ("vscode", [".github/copilot-instructions.md", ".github/hooks/recollect.json"]),
    ],
)
def test_what_the_user_has_everywhere_is_not_installed_again_in_a_project(desk, host, left):
    desk.install(host, "user")

    plan = desk.install(host, "project")

    assert sorted(str(change.path.relative_to(desk.project)) for change in plan.changes) == left
    assert "is connected for you" in plan.notes[0]


def test_a_project_that_has_it_already_is_named(desk):
    desk.install("codex", "project")

    plan = desk.install("codex", "user")

    assert f"recollect uninstall codex --project {desk.project}" in plan.notes[0]


def test_folders_that_hosts_share_go_with_the_last_of_them(desk):
    before = desk.files()
    for host in HOSTS:
        desk.install(host, "user")
        desk.install(host, "project")

    for host in HOSTS:
        desk.uninstall(host, "user")
        desk.uninstall(host, "project")

    assert desk.files() == before


def test_an_unreadable_ledger_is_named(desk, tmp_path):
    desk.install("codex")
    (tmp_path / "home" / "installed.json").write_text("{")

    with pytest.raises(Refused, match=r"installed\.json"):
        Ledger(tmp_path / "home").records()


def test_claude_code_and_codex_may_live_in_other_folders(desk, tmp_path):
    variables = {"CLAUDE_CONFIG_DIR": str(tmp_path / "cc"), "CODEX_HOME": str(tmp_path / "cx")}
    machine = type(desk.machine)(desk.machine.user, desk.machine.program, variables, "linux")
    moved = type(desk)(machine, desk.ledger, desk.project)

    moved.install("claude-code")
    moved.install("codex")

    assert {path.name for path in (tmp_path / "cc").iterdir()} >= {".claude.json", "settings.json"}
    assert (tmp_path / "cx" / "config.toml").exists()
    assert [path.name for path in desk.machine.user.iterdir()] == [".agents"]


def test_claude_code_waits_for_a_shorter_output_only_where_one_is_wished_for(desk):
    desk.install("claude-code")
    before = _after_a_tool(desk)
    wishing = replace(desk, machine=replace(desk.machine, shortens=True))

    plan = wishing.install("claude-code")

    assert before["async"] is True
    assert [change.path.name for change in plan.changes] == ["settings.json"]
    assert _after_a_tool(desk) == {name: value for name, value in before.items() if name != "async"}
    desk.install("claude-code")
    assert _after_a_tool(desk) == before


def _after_a_tool(desk):
    written = json.loads((desk.machine.user / SETTINGS).read_text())
    ((entry,),) = [[handler for group in written["hooks"]["PostToolUse"] for handler in group["hooks"]]]
    return entry
