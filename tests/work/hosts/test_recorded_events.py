"""Real sessions of each host, as its hooks reported them: the user states a rule, one command works, one fails."""

import json
from pathlib import Path

import pytest

from recollect.work.episodes.record import call_failed
from recollect.work.hosts.hook_input import HostEvent, host_event, prompt_of, session_events
from recollect.work.hosts.host import HookKind
from recollect.work.hosts.registry import HOSTS

RECORDED = Path(__file__).parent / "recorded"
HOSTS_SEEN = sorted(path.stem for path in RECORDED.glob("*.jsonl"))


def events(host: str, *kinds: HookKind) -> list[HostEvent]:
    lines = [json.loads(line) for line in (RECORDED / f"{host}.jsonl").read_text("utf-8").splitlines()]
    made = [
        host_event(host, line["event"], f"e{number}", "1800000000000000000", "/home/me/shop", line["body"])
        for number, line in enumerate(lines)
    ]
    return [event for event in made if not kinds or event.kind in kinds]


@pytest.mark.parametrize("host", HOSTS_SEEN)
def test_the_users_words_are_kept_and_nothing_else_is_theirs(host):
    (prompt,) = events(host, HookKind.PROMPT)

    mine = [event.text for _, event in session_events(prompt) if not event.injected]

    assert mine == [prompt_of(prompt)] == ["Use tabs, not spaces."]


@pytest.mark.parametrize("host", HOSTS_SEEN)
def test_a_command_that_failed_is_told_from_one_that_worked(host):
    tools = events(host, HookKind.AFTER_TOOL, HookKind.TOOL_FAILED)

    outcomes = {}
    for event in tools:
        (_, call), (_, answer) = session_events(event)
        outcomes[call.input["command"]] = call_failed(call, answer)

    assert outcomes == {"echo hi": False, 'python3 -c "import nope"': True}


@pytest.mark.parametrize("host", HOSTS_SEEN)
def test_every_event_that_was_seen_is_understood(host):
    assert [event.name for event in events(host) if HOSTS[host].hook(event.name) is None] == []
