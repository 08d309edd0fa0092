"""Installing into every host's files, and leaving them as they were."""

import json
import stat
import subprocess
import tomllib
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings

from jsonc_texts import texts
from recollect.errors import Refused
from recollect.interfaces.install import rules, templates
from recollect.interfaces.install.change import FileChange, apply
from recollect.interfaces.install.edits import permissions_path
from recollect.interfaces.install.entries import is_ours
from recollect.interfaces.install.ledger import Ledger
from recollect.interfaces.install.plan import carry_out
from recollect.text import jsonc
from recollect.work.hosts.registry import HOSTS

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
def test_installing_and_uninstalling_leaves_nothing_behind(pc, host, scope):
    before = pc.files()

    pc.install(host, scope)
    during = pc.files()
    pc.uninstall(host, scope)

    assert during != before
    assert pc.files() == before
    assert pc.ledger.records() == []


@pytest.mark.parametrize("host, scope", EVERY)
def test_installing_again_changes_nothing(pc, host, scope):
    pc.install(host, scope)
    before = pc.files()

    again = pc.install(host, scope)

    assert again.changes == ()
    assert pc.files() == before


@pytest.mark.parametrize("host", HOSTS)
def test_every_event_starts_the_program_by_its_path(pc, host):
    pc.install(host, "user")
    pc.install(host, "project")

    written = "".join(text.decode() for text in pc.files().values() if text)
    called = [hook.event for hook in HOSTS[host].hooks if hook.is_installed]

    assert pc.machine.program[0] in written
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
def test_a_configuration_gets_its_very_bytes_back(pc, name, host, data):
    path = pc.write(name, data)

    pc.install(host)
    during = path.read_bytes()
    pc.uninstall(host)

    assert during != data
    assert path.read_bytes() == data


def test_other_tools_hooks_and_comments_stay_where_they_are(pc):
    path = pc.write(SETTINGS, OTHERS)

    pc.install("claude-code")

    text = path.read_text(encoding="utf-8")
    after = jsonc.load(text)["hooks"]["PostToolUse"]
    assert [line for line in OTHERS.decode().splitlines() if line not in text.splitlines()] == []
    assert after[0]["hooks"][0]["command"] == "lint --fix"
    assert is_ours(after[1])
    assert "\n\t\t\t{\n\t\t\t\t" in text, "our entries are indented as theirs are"


@given(text=texts())
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_configuration_gets_its_very_bytes_back(pc, text):
    path = pc.write(SETTINGS, text.encode())

    pc.install("claude-code")
    again = pc.install("claude-code")
    pc.uninstall("claude-code")

    assert again.changes == ()
    assert path.read_bytes() == text.encode()


@given(text=texts())
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_what_someone_else_wrote_meanwhile_stays(pc, text):
    path = pc.write(SETTINGS, text.encode())
    pc.install("claude-code")
    path.write_bytes(jsonc.put(path.read_bytes().decode(), ("theirs",), {"a": 1}).encode())

    pc.uninstall("claude-code")

    assert jsonc.load(path.read_bytes().decode()) == {**jsonc.load(text), "theirs": {"a": 1}}
    path.unlink()


def test_a_file_that_someone_else_wrote_anew_loses_only_our_entries(pc):
    path = pc.write(SETTINGS, OTHERS)
    pc.install("claude-code")
    data = jsonc.load(path.read_bytes().decode())
    data["hooks"]["PostToolUse"][1]["hooks"].append({"type": "command", "command": "theirs"})
    path.write_text(json.dumps(data))

    pc.uninstall("claude-code")

    left = json.loads(path.read_text())
    assert left["model"] == "opus"
    assert [each["command"] for group in left["hooks"]["PostToolUse"] for each in group["hooks"]] == [
        "lint --fix",
        "theirs",
    ]
    assert list(left["hooks"]) == ["PostToolUse"]


def test_an_uninstall_needs_no_ledger(pc, tmp_path):
    path = pc.write(SETTINGS, OTHERS)
    pc.install("claude-code")
    (tmp_path / "home" / "installed.json").unlink()

    pc.uninstall("claude-code")

    assert jsonc.load(path.read_bytes().decode()) == jsonc.load(OTHERS.decode())
    assert not (pc.machine.user / ".claude/commands/remember.md").exists()


def test_another_recollect_takes_over_in_place(pc, tmp_path):
    path = pc.write(SETTINGS, OTHERS)
    pc.install("claude-code")
    other = tmp_path / "other" / "recollect"
    moved = type(pc)(type(pc.machine)(pc.machine.user, (str(other),), {}, "linux"), pc.ledger, pc.project)

    moved.install("claude-code")

    assert pc.machine.program[0] not in path.read_text(encoding="utf-8")
    assert str(other) in path.read_text(encoding="utf-8")
    moved.uninstall("claude-code")
    assert path.read_bytes() == OTHERS


@pytest.mark.parametrize("name", [SETTINGS, ".claude.json"])
@pytest.mark.parametrize(
    "data, reason",
    [
        (b'{"hooks": {', "line 1"),
        (b"[]", "is not an object"),
        (b"1", "is not an object"),
        (b'{"hooks": "none", "mcpServers": 1}', "is not an object"),
        (b"\xff\xfe{\x00}", "not valid UTF-8"),
    ],
)
def test_what_is_not_understood_is_refused_and_nothing_is_written(pc, name, data, reason):
    pc.write(name, data)
    before = pc.files()

    with pytest.raises(Refused, match=reason) as caught:
        pc.install("claude-code")

    assert str(pc.machine.user / name) in caught.value.message
    assert caught.value.hint
    assert pc.files() == before


def test_a_read_only_file_is_refused_and_nothing_is_written(pc):
    path = pc.write(SETTINGS, b"{}")
    path.chmod(0o444)
    before = pc.files()

    with pytest.raises(Refused, match="read-only"):
        pc.install("claude-code")

    assert pc.files() == before


def test_a_link_stays_a_link_and_what_it_leads_to_is_changed_and_restored(pc):
    real = pc.write("dotfiles/claude.json", OTHERS)
    link = pc.machine.user / SETTINGS
    link.parent.mkdir()
    link.symlink_to(real)

    pc.install("claude-code")
    during = real.read_bytes()
    pc.uninstall("claude-code")

    assert is_ours(jsonc.load(during.decode())["hooks"]["Stop"][0])
    assert link.is_symlink()
    assert real.read_bytes() == OTHERS


@pytest.mark.parametrize("target", ["nowhere/at/all.json", SETTINGS])
def test_a_link_to_nowhere_or_to_itself_is_refused(pc, target):
    link = pc.machine.user / SETTINGS
    link.parent.mkdir()
    link.symlink_to(pc.machine.user / target)

    with pytest.raises(Refused, match=r"settings\.json"):
        pc.install("claude-code")


def test_a_projects_link_that_leads_out_of_it_is_refused(pc):
    secret = pc.write(".bashrc", b"export PATH\n")
    (pc.project / ".cursor/rules").mkdir(parents=True)
    (pc.project / ".cursor/rules/recollect.mdc").symlink_to(secret)

    with pytest.raises(Refused, match="is a link out of the project"):
        pc.install("cursor", "project")

    assert secret.read_bytes() == b"export PATH\n"


def test_the_mode_of_a_file_is_kept(pc):
    path = pc.write(".claude.json", b'{"token": "x"}')
    path.chmod(0o600)

    pc.install("claude-code")
    during = path.stat().st_mode
    pc.uninstall("claude-code")

    assert stat.S_IMODE(during) == stat.S_IMODE(path.stat().st_mode) == 0o600


def test_nobody_else_can_read_the_backup_and_it_goes_with_the_installation(pc, tmp_path):
    pc.write(".claude.json", b'{"token": "x"}')
    pc.install("claude-code")
    kept = [
        path for path in (tmp_path / "home/backups/hosts").iterdir() if path.read_bytes() == b'{"token": "x"}'
    ]

    pc.uninstall("claude-code")

    assert [stat.S_IMODE(kept[0].stat().st_mode)] == [0o600] if kept[0].exists() else True
    assert list((tmp_path / "home/backups/hosts").iterdir()) == []


def test_a_file_changed_while_the_user_was_reading_is_not_overwritten(pc):
    path = pc.write(SETTINGS, b"{}")
    plan = pc.plan("claude-code")
    path.write_bytes(b'{"new": 1}')
    before = pc.files()

    with pytest.raises(Refused, match="another program"):
        carry_out(plan, pc.ledger)

    assert pc.files() == before
    assert pc.ledger.records() == []


def test_if_one_file_cannot_be_written_none_is(pc):
    first, second = pc.write("a.json", b"1"), pc.machine.user / "folder"
    second.mkdir()
    before = pc.files()

    with pytest.raises(Refused):
        apply(
            [
                FileChange(first, b"1", b"2"),
                FileChange(pc.machine.user / "b/c.json", None, b"3"),
                FileChange(second, None, b"4"),
            ]
        )

    assert pc.files() == before


def test_a_server_of_that_name_that_is_not_ours_is_refused(pc):
    pc.write(
        ".cursor/mcp.json", b'{"mcpServers": {"recollect": {"command": "npx", "args": ["recollect-js"]}}}'
    )

    with pytest.raises(Refused, match="did not write"):
        pc.install("cursor")


def test_what_the_user_added_to_our_server_stays(pc):
    pc.install("gemini")
    path = pc.machine.user / ".gemini/settings.json"
    data = json.loads(path.read_text())
    data["mcpServers"]["recollect"]["trust"] = True
    path.write_text(json.dumps(data))

    assert pc.plan("gemini").changes == ()


def test_a_command_file_of_the_users_own_is_left_alone(pc):
    path = pc.write(".claude/commands/remember.md", b"My own way to remember\n")

    plan = pc.install("claude-code")
    pc.uninstall("claude-code")

    assert [note for note in plan.notes if "remember.md was not written by Recollect" in note]
    assert path.read_bytes() == b"My own way to remember\n"


def test_a_command_file_that_the_user_changed_is_left_alone(pc):
    pc.install("claude-code")
    path = pc.machine.user / ".claude/commands/pin.md"
    path.write_text(path.read_text() + "And sing.\n")

    plan = pc.uninstall("claude-code")

    assert [note for note in plan.notes if "pin.md was changed after it was installed" in note]
    assert path.read_text().endswith("And sing.\n")


def test_codex_keeps_every_line_of_its_configuration(pc):
    config = b'# mine\r\nmodel = "o9" # best\r\n\r\n[mcp_servers.files]\r\ncommand = "files"\r\n'
    path = pc.write(".codex/config.toml", config)

    pc.install("codex")
    during = path.read_bytes()
    path.write_bytes(during + b'\r\n# later\r\n[tui]\r\ntheme = "dark"\r\n')
    pc.uninstall("codex")

    assert during.startswith(config)
    assert b"\n" not in during.replace(b"\r\n", b"")
    assert tomllib.loads(during.decode())["mcp_servers"]["recollect"]["args"] == ["mcp"]
    assert path.read_bytes() == config + b'\r\n# later\r\n[tui]\r\ntheme = "dark"\r\n'


def test_what_codex_noted_about_our_server_goes_with_it(pc):
    path = pc.write(".codex/config.toml", b'model = "o9"\n')
    pc.install("codex")
    allowed = b'\n[mcp_servers.recollect.tools.search_memory]\napproval_mode = "approve"\n'
    path.write_bytes(path.read_bytes() + allowed)

    again = pc.plan("codex")
    pc.uninstall("codex")

    assert again.changes == ()
    assert path.read_bytes() == b'model = "o9"\n'


@pytest.mark.parametrize(
    "data, reason",
    [
        (b"model = \n", "cannot be edited as TOML"),
        (b"mcp_servers = { files = { command = 'x' } }\n", "cannot be edited as TOML"),
        (b"[mcp_servers.recollect]\ncommand = 'other'\n", "did not write"),
    ],
)
def test_a_codex_configuration_that_cannot_be_added_to_is_refused(pc, data, reason):
    path = pc.write(".codex/config.toml", data)

    with pytest.raises(Refused, match=reason):
        pc.install("codex")

    assert path.read_bytes() == data


RULES = [b"", b"# Rules\n", b"# Rules", b"# Rules\r\n\r\nBe kind.\r\n", b"\xef\xbb\xbf# Rules\n\n\n"]


@pytest.mark.parametrize("data", RULES)
def test_a_rules_file_gets_its_very_bytes_back(pc, data):
    path = pc.write(".codeium/windsurf/memories/global_rules.md", data)

    pc.install("windsurf")
    during = path.read_bytes()
    pc.uninstall("windsurf")

    assert during.startswith(data)
    assert b"<!-- recollect:begin -->" in during
    assert path.read_bytes() == data


def test_words_around_our_part_of_a_rules_file_stay(pc):
    path = pc.write(".codeium/windsurf/memories/global_rules.md", b"# Rules\n")
    pc.install("windsurf")
    path.write_bytes(b"Before.\n" + path.read_bytes() + b"\nAfter.\n")

    pc.uninstall("windsurf")

    assert path.read_bytes() == b"Before.\n# Rules\n\nAfter.\n"


def test_broken_markers_are_refused(pc):
    pc.write(".codeium/windsurf/memories/global_rules.md", b"<!-- recollect:begin -->\nand no end\n")

    with pytest.raises(Refused, match=r"global_rules\.md.*do not form one block"):
        pc.install("windsurf")


def test_a_briefing_in_the_rules_file_is_renewed_and_goes_with_it(pc):
    before = pc.files()
    pc.install("cursor", "project")
    path = pc.project / ".cursor/rules/recollect.mdc"

    for briefing in ("Use tabs. <!-- recollect:end -->", "Use spaces."):
        assert rules.write_briefing("cursor", pc.project, briefing)
    text = path.read_text()
    again = pc.plan("cursor", "project")
    pc.uninstall("cursor", "project")

    assert "alwaysApply: true" in text
    assert "Use spaces." in text
    assert "Use tabs." not in text
    assert again.changes == ()
    assert pc.files() == before


def test_a_shared_instructions_file_never_gets_a_briefing(pc):
    pc.install("vscode", "project")

    assert not rules.write_briefing("vscode", pc.project, "Use tabs.")


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
def test_what_the_user_has_everywhere_is_not_installed_again_in_a_project(pc, host, left):
    pc.install(host, "user")

    plan = pc.install(host, "project")

    assert sorted(str(change.path.relative_to(pc.project)) for change in plan.changes) == left
    assert "is connected for you" in plan.notes[0]


def test_a_project_that_has_it_already_is_named(pc):
    pc.install("codex", "project")

    plan = pc.install("codex", "user")

    assert f"recollect uninstall codex --project {pc.project}" in plan.notes[0]


def test_folders_that_hosts_share_go_with_the_last_of_them(pc):
    before = pc.files()
    for host in HOSTS:
        pc.install(host, "user")
        pc.install(host, "project")

    for host in HOSTS:
        pc.uninstall(host, "user")
        pc.uninstall(host, "project")

    assert pc.files() == before


def test_an_unreadable_ledger_is_named(pc, tmp_path):
    pc.install("codex")
    (tmp_path / "home" / "installed.json").write_text("{")

    with pytest.raises(Refused, match=r"installed\.json"):
        Ledger(tmp_path / "home").records()


def test_claude_code_and_codex_may_live_in_other_folders(pc, tmp_path):
    variables = {"CLAUDE_CONFIG_DIR": str(tmp_path / "cc"), "CODEX_HOME": str(tmp_path / "cx")}
    machine = type(pc.machine)(pc.machine.user, pc.machine.program, variables, "linux")
    moved = type(pc)(machine, pc.ledger, pc.project)

    moved.install("claude-code")
    moved.install("codex")

    assert {path.name for path in (tmp_path / "cc").iterdir()} >= {".claude.json", "settings.json"}
    assert (tmp_path / "cx" / "config.toml").exists()
    assert [path.name for path in pc.machine.user.iterdir()] == [".agents"]


def test_claude_code_waits_for_what_a_tool_brings(pc):
    pc.install("claude-code")

    assert "async" not in _after_a_tool(pc)


def _after_a_tool(pc):
    written = json.loads((pc.machine.user / SETTINGS).read_text())
    ((entry,),) = [[handler for group in written["hooks"]["PostToolUse"] for handler in group["hooks"]]]
    return entry


ALLOWED = ["claude-code", "gemini"]


@pytest.mark.parametrize("host", ALLOWED)
@pytest.mark.parametrize("scope", SCOPES)
def test_allowed_tools_are_those_that_only_read_and_go_with_the_installation(pc, host, scope):
    before = pc.files()
    asking = replace(pc, machine=replace(pc.machine, allows_tools=True))

    asking.install(host, scope)
    written = permissions_path(HOSTS[host], scope, pc.project, pc.machine).read_text()
    again = pc.install(host, scope)
    pc.uninstall(host, scope)

    assert "search_memory" in written
    assert "record_memory" not in written
    assert again.changes == ()
    assert pc.files() == before


def test_a_permission_that_the_user_gave_stays(pc):
    path = pc.write(SETTINGS, b'{"permissions": {"allow": ["mcp__recollect__search_memory", "Bash(ls)"]}}')
    asking = replace(pc, machine=replace(pc.machine, allows_tools=True))

    asking.install("claude-code")
    changed = path.read_text().replace('"Bash(ls)"', '"Bash(ls)", "Bash(cat)"')
    path.write_text(changed)
    pc.uninstall("claude-code")

    assert json.loads(path.read_text()) == {
        "permissions": {"allow": ["mcp__recollect__search_memory", "Bash(ls)", "Bash(cat)"]}
    }


def test_tools_that_are_no_longer_allowed_are_taken_back(pc):
    before = pc.files()
    for host in ALLOWED:
        replace(pc, machine=replace(pc.machine, allows_tools=True)).install(host)
        replace(pc, machine=replace(pc.machine, allows_tools=False)).install(host)

    written = "".join(text.decode() for text in pc.files().values() if text)
    for host in ALLOWED:
        pc.uninstall(host)

    assert "mcp__recollect__search_memory" not in written
    assert "mcpName" not in written
    assert pc.files() == before


def _with_status_line(pc, wanted=True):
    return replace(pc, machine=replace(pc.machine, status_line=wanted))


@pytest.mark.parametrize("scope", SCOPES)
def test_a_status_line_is_added_where_there_is_none_and_goes_with_the_installation(pc, scope):
    before = pc.files()

    _with_status_line(pc).install("claude-code", scope)
    path = pc.machine.path(HOSTS["claude-code"], HOSTS["claude-code"].files(scope).hooks, pc.project)
    line = json.loads(path.read_text())["statusLine"]
    again = pc.install("claude-code", scope)
    pc.uninstall("claude-code", scope)

    assert line["type"] == "command"
    assert line["command"].endswith("recollect' hook claude-code StatusLine")
    assert again.changes == ()
    assert pc.files() == before


def test_a_status_line_of_the_users_stays(pc):
    own = b'{"statusLine": {"type": "command", "command": "my-line"}}'
    path = pc.write(SETTINGS, own)

    _with_status_line(pc).install("claude-code")
    installed = json.loads(path.read_text())
    again = _with_status_line(pc).install("claude-code")
    pc.uninstall("claude-code")

    assert installed["statusLine"]["command"] == "my-line"
    assert again.changes == ()
    assert path.read_bytes() == own


def test_a_status_line_goes_when_the_user_wants_none_and_when_the_file_was_changed_since(pc):
    path = pc.machine.user / SETTINGS
    _with_status_line(pc).install("claude-code")
    _with_status_line(pc, wanted=False).install("claude-code")
    without = json.loads(path.read_text())
    _with_status_line(pc).install("claude-code")
    path.write_text(path.read_text().replace("{", '{\n  "model": "opus",', 1))

    pc.uninstall("claude-code")

    assert "statusLine" not in without
    assert json.loads(path.read_text()) == {"model": "opus"}


def test_what_only_an_older_version_installed_is_removed(pc):
    before = pc.files()
    pc.install("claude-code")
    skill = pc.machine.user / ".claude/skills/long-term-memory/SKILL.md"
    old = pc.machine.user / ".claude/skills/recollect/SKILL.md"
    old.parent.mkdir()
    skill.rename(old)
    skill.parent.rmdir()
    records = [
        replace(record, path=str(old), folders=(str(old.parent), str(old.parent.parent)))
        if record.path == str(skill)
        else record
        for record in pc.ledger.records()
    ]
    pc.ledger.update(records, [(str(skill), "claude-code")])

    plan = pc.install("claude-code")
    during = sorted(path.parent.name for path in pc.machine.user.rglob("SKILL.md"))
    pc.uninstall("claude-code")

    assert [change.path for change in plan.changes if change.after is None] == [old]
    assert during == ["long-term-memory"]
    assert pc.files() == before


def test_a_skill_that_hosts_share_stays_for_the_last_of_them(pc):
    before = pc.files()
    for host in ("codex", "gemini", "opencode"):
        pc.install(host)
    skill = pc.machine.user / ".agents/skills/long-term-memory/SKILL.md"

    pc.uninstall("codex")
    pc.uninstall("opencode")
    kept = skill.exists()
    pc.uninstall("gemini")

    assert kept
    assert pc.files() == before


def test_no_command_has_the_name_of_the_skill(pc):
    for host in HOSTS.values():
        skills = {Path(files.skill).name for files in (host.user_files, host.project_files) if files.skill}
        names = {name.partition(".")[0] for name, _ in templates.commands(host, pc.machine)}

        assert not skills & names, host.name


def test_a_hook_whose_program_is_gone_does_nothing(pc):
    pc.install("claude-code")
    hooks = json.loads((pc.machine.user / SETTINGS).read_text())["hooks"]
    line = hooks["Stop"][0]["hooks"][0]["command"]
    there = subprocess.run(["sh", "-c", line], capture_output=True)

    Path(pc.machine.program[0]).unlink()
    gone = subprocess.run(["sh", "-c", line], capture_output=True)

    assert (there.returncode, gone.returncode, gone.stdout, gone.stderr) == (0, 0, b"", b"")


def test_codex_passes_on_what_decides_which_store_is_opened(pc):
    pc.install("codex")

    server = tomllib.loads((pc.machine.user / ".codex/config.toml").read_text())["mcp_servers"]["recollect"]

    assert {"RECOLLECT_HOME", "RECOLLECT_KEY"} <= set(server["env_vars"])


def test_claude_code_waits_for_the_end_of_a_turn(pc):
    pc.install("claude-code")

    hooks = json.loads((pc.machine.user / SETTINGS).read_text())["hooks"]

    assert "async" not in hooks["Stop"][0]["hooks"][0]
    assert "async" not in hooks["SessionEnd"][0]["hooks"][0]
