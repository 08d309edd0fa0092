"""Live updates: what one person's agent finds reaches another person's session, and who is no longer there hears nothing."""

import json
import queue
import threading

import pytest

import recollect.model as m
from fakes import FakeEmbedder
from recollect.errors import TokenRefused, TooManyRequests
from recollect.interfaces.team import feed
from recollect.remote.client import TeamClient
from recollect.remote.updates import EVERYTHING, TeamUpdates
from recollect.remote.wire import team_project_id
from team_people import Host
from team_server import SHOP, running

SECONDS = 60.0  # that something may take on a busy machine


class Listener:
    """A client that follows the stream of a server, in a thread."""

    def __init__(self, address, token):
        self.client = TeamClient(address, token)
        self.news = queue.Queue()
        self.updates = TeamUpdates(self.client, self.news.put)
        self.updates.start()
        assert self.next() == EVERYTHING

    def next(self):
        return self.news.get(timeout=SECONDS)

    def close(self):
        self.updates.close()
        self.client.close()


@pytest.fixture
def listen(team):
    opened = []

    def open_one(member, address=None):
        assert team.app.feed.is_listening.wait(SECONDS)
        opened.append(Listener(address or team.address, member.token))
        return opened[-1]

    yield open_one
    for each in opened:
        each.close()


def project_of(member, place=SHOP):
    return team_project_id(member.id, place.keys)


def test_a_change_is_told_to_others_in_the_project_without_its_text(team, listen):
    ada = team.new_team()
    ben = team.add(ada, "Ben")
    stream = listen(ben)

    ada.call("remember", content="The vault opens at nine", visibility="team")

    assert stream.next() == project_of(ada)


def test_nobody_is_told_of_another_team_of_private_memories_or_of_closed_projects(team, listen):
    ada, eve = team.new_team("Shop"), team.new_team("Bank", "Eve")
    ben = team.add(ada, "Ben")
    ada.call("remember", content="Secret plans", visibility="project", place=replace_name("plans"))
    ada.call("restrict_project", project="plans", people=["Ada"])
    hers, his, other = listen(ada), listen(ben), listen(eve)

    ada.call("remember", content="More secret plans", visibility="project", place=replace_name("plans"))
    ada.call("remember", content="Mine alone")
    ada.call("remember", content="For all of us", visibility="team")
    eve.call("remember", content="For the bank", visibility="team", place=replace_name("bank"))

    plans, shop = project_of(ada, replace_name("plans")), project_of(ada)
    told = {hers.next(), hers.next()}
    assert told == {plans, shop}
    assert his.next() == shop
    assert other.next() == project_of(eve, replace_name("bank"))
    assert his.news.empty()


def replace_name(name):
    return SHOP.__class__((f"remote:example.com/team/{name}",), name)


def test_the_stream_of_somebody_who_was_removed_on_another_server_ends(team, listen, home, postgres_team):
    ada = team.new_team()
    ben, mo = team.add(ada, "Ben"), team.add(ada, "Mo")
    with running(postgres_team, home, FakeEmbedder()) as other:
        assert other.app.feed.is_listening.wait(SECONDS)
        his, hers = listen(ben, other.address), listen(mo, other.address)

        ada.call("remove_member", person="Ben")  # through the first server

        his.updates._thread.join(SECONDS)
        assert his.updates.is_over
        with pytest.raises(TokenRefused):
            his.client.call("whoami", {})
        assert not hers.updates.is_over


def test_a_stream_ends_when_the_server_stops_and_opens_again(team, listen, monkeypatch):
    monkeypatch.setattr("recollect.remote.updates.RECONNECT_SECONDS", 0.01)
    ada = team.new_team()
    stream = listen(ada)

    team.stop()
    assert team.app.feed.streams == 0
    team.start()

    assert stream.next() == EVERYTHING
    assert team.app.feed.is_listening.wait(SECONDS)
    ada.call("remember", content="The vault opens at nine", visibility="team")
    assert stream.next() == project_of(ada)


def test_a_person_has_so_many_streams_and_no_token_none(team, listen, monkeypatch):
    monkeypatch.setattr(feed, "MOST_PER_PERSON", 1)
    ada = team.new_team()
    listen(ada)

    with pytest.raises(TooManyRequests), ada.client.stream():
        pass
    with pytest.raises(TokenRefused), TeamClient(team.address, "rct_nobody").stream():
        pass


def test_what_an_agent_finds_is_told_at_the_next_prompt_of_another_persons_live_session(ada, ben):
    hers, his = Host(ada), Host(ben)
    his.hook("SessionStart", session="b1", source="startup")
    his.hook("UserPromptSubmit", session="b1", prompt="have a look at the checkout page")
    told = threading.Event()
    his.service.team._changed = lambda folder: told.set()
    assert his.service.team._updates.is_connected.wait(SECONDS)

    find_a_fix(hers)

    assert told.wait(SECONDS)
    prompt = his.hook("UserPromptSubmit", session="b1", prompt="and now run the tests")
    assert "npm install jest" in prompt
    assert "I dislike the checkout page" not in prompt
    hers.close()
    his.close()


def find_a_fix(host):
    """An agent runs into an error and finds what fixes it; its person says something about it."""
    host.hook("SessionStart", session="a1", source="startup")
    host.hook(
        "UserPromptSubmit", session="a1", prompt="I dislike the checkout page. Always use pnpm, never npm."
    )
    for command, output, failed in (
        ("npm test", "Exit code 1\nError: Cannot find module jest", True),
        ("npm install jest", "added 1 package", False),
        ("npm test", "3 passed", False),
    ):
        body = {"tool_name": "Bash", "tool_input": {"command": command}}
        if failed:
            host.hook("PostToolUseFailure", session="a1", error=output, **body)
        else:
            host.hook("PostToolUse", session="a1", tool_response={"stdout": output}, **body)
    host.hook("Stop", session="a1", last_assistant_message="The tests pass now.")


def test_a_persons_words_in_a_chat_are_not_published(team):
    ada = team.new_team()
    ben = team.add(ada, "Ben")
    at = m.utc_now()
    session = m.Session("s1", "", None, at, "claude", "claude-code")
    said = m.Finding("f1", "s1", "", "preference", "I dislike the vault", at, source=m.Source.USER_STATED)
    seen = m.Finding("f2", "s1", "", "gotcha", "The vault needs a key", at)

    ada.call("publish", session=session, findings=[said, seen])

    told = ben.call("material", moment="prompt", text="open the vault", session="s2")
    assert [each.content for each in told.findings] == ["The vault needs a key"]
    assert "dislike" not in json.dumps([each.content for each in told.findings])
