"""What an agent may do to whose memory on a team server: the table, whatever the agent sends."""

import pytest

import recollect.model as m
from recollect.errors import OutOfScope, RecollectError
from recollect.policy import ON_MEMORIES, MemoryOwner, Operation, Permission
from recollect.remote.client import TeamClient
from recollect.remote.wire import NOWHERE, Place

TEXT = "Refresh tokens live in Redis and not in the database"
OTHER = "The search index is rebuilt every night by a cron job"
OWNERS = (MemoryOwner.AGENT, MemoryOwner.PERSON, MemoryOwner.GLOBAL)  # a server reads no repository
CALLS = {
    Operation.EDIT: lambda name, other: ("edit", {"name": name, "content": "Tokens live in the database"}),
    Operation.FORGET: lambda name, other: ("forget", {"name": name}),
    Operation.RESTORE: lambda name, other: ("restore", {"name": name}),
    Operation.FLAG_WRONG: lambda name, other: ("wrong", {"name": name, "because": "I say so"}),
    Operation.PIN: lambda name, other: ("pin", {"name": name}),
    Operation.TAG: lambda name, other: ("tag", {"name": name, "add": ["urgent"]}),
    Operation.LINK: lambda name, other: ("link", {"source": name, "target": other}),
    Operation.UNLINK: lambda name, other: (
        "unlink",
        {"source": name, "target": other, "relation": "relates_to"},
    ),
    Operation.CONTRADICT: lambda name, other: (
        "link",
        {"source": other, "target": name, "relation": "contradicts"},
    ),
    Operation.SUPERSEDE: lambda name, other: (
        "link",
        {"source": other, "target": name, "relation": "supersedes"},
    ),
    Operation.RESOLVE: lambda name, other: ("resolve", {"first": name, "second": other, "keep": "both"}),
    Operation.REINFORCE: lambda name, other: ("remember", {"content": TEXT, "session": name}),
    Operation.ENRICH: lambda name, other: (
        "remember",
        {"content": TEXT, "tags": ["urgent"], "session": name},
    ),
    Operation.DESCRIBE: lambda name, other: ("describe", {"name": name, "situations": ["a page at night"]}),
    Operation.PRAISE: lambda name, other: ("feedback", {"name": name, "helpful": True, "session": "s1"}),
    Operation.DOUBT: lambda name, other: ("feedback", {"name": name, "helpful": False, "session": "s1"}),
}
NOT_OFFERED = {Operation.MERGE}
# accepted, and adds strength alone or is stored beside
QUIET = {Operation.REINFORCE, Operation.ENRICH}


@pytest.fixture
def ada(team):
    return team.new_team()


@pytest.fixture(
    params=["token of an agent", "client that says an agent acts", "agent that says it is a person"]
)
def agent(request, team, ada):
    """Calls an operation as an agent of Ada's, in one of the ways in which an agent can call one."""
    clients = []

    def call(operation, place, **arguments):
        if request.param == "client that says an agent acts":
            return ada.call(operation, place=place, actor="agent:coder", **arguments)
        if not clients:
            issued = ada.call("create_token", name="coder", agent="coder", actions=["read", "write"])
            clients.append(TeamClient(team.address, issued.secret))
        claimed = "user" if request.param == "agent that says it is a person" else "agent:coder"
        return clients[0].call(operation, arguments, place, claimed)

    yield call
    for client in clients:
        client.close()


def new_memory(ada, agent, owner, place):
    if owner is MemoryOwner.AGENT:
        return agent("remember", place, content=TEXT, session=place.name).id
    if owner is MemoryOwner.PERSON:
        return ada.call("remember", place=place, content=TEXT, visibility="team").id
    return ada.call("remember", place=NOWHERE, content=TEXT, visibility="team").id


def kept(memory):
    """What an agent may not change: all but how often it was said."""
    values = m.as_json(memory)
    return {name: values[name] for name in values if name not in ("strength", "reinforcements", "updated_at")}


def is_refused(agent, operation, place, name, other):
    called, arguments = CALLS[operation](name, other)
    try:
        agent(called, place, **arguments)
    except RecollectError:
        return True
    return False


@pytest.mark.parametrize("agent", ["agent that says it is a person"], indirect=True)
def test_an_agent_on_a_team_server_gets_the_answer_of_the_table(ada, agent):
    refused, denied = (
        set(),
        {cell for cell, permission in ON_MEMORIES.items() if permission is Permission.DENY},
    )
    for owner in OWNERS:
        place = Place((f"remote:example.com/team/{owner}",), owner)
        name = new_memory(ada, agent, owner, place)
        other = agent("remember", place, content=OTHER).id
        before = ada.call("get", place=place, name=name)
        for operation in [each for each in CALLS if (each, owner) in denied]:
            if is_refused(agent, operation, place, name, other) or operation in QUIET:
                refused.add((operation, owner))
        assert kept(ada.call("get", place=place, name=name)) == kept(before)
        assert ada.call("links", place=place, name=name) == ada.call("questions", place=place) == ()

    assert refused == {
        (operation, owner) for operation, owner in denied if operation in CALLS and owner in OWNERS
    }
    assert set(CALLS) | NOT_OFFERED == {operation for operation, _ in ON_MEMORIES}


@pytest.mark.parametrize("agent", ["token of an agent"], indirect=True)
def test_an_agent_on_a_team_server_may_do_or_propose_the_rest(ada, agent):
    for operation in CALLS.keys() - {Operation.RESTORE}:  # what was forgotten, a person restores
        if ON_MEMORIES[operation, MemoryOwner.AGENT] is Permission.ALLOW:
            place = Place((f"remote:example.com/team/{operation}",), operation)
            name = new_memory(ada, agent, MemoryOwner.AGENT, place)
            other = agent("remember", place, content=OTHER, session=operation).id

            assert not is_refused(agent, operation, place, name, other), operation

    place = Place(("remote:example.com/team/shop",), "shop")
    said, other = (
        new_memory(ada, agent, MemoryOwner.PERSON, place),
        agent("remember", place, content=OTHER).id,
    )
    before = ada.call("get", place=place, name=said)
    for operation in (Operation.FORGET, Operation.CONTRADICT, Operation.SUPERSEDE):
        assert not is_refused(agent, operation, place, said, other)
    kinds = {question.review.kind for question in ada.call("questions", place=place)}
    assert kinds == {"forget", "contradiction"}
    assert kept(ada.call("get", place=place, name=said)) == kept(before)


def test_an_agent_hides_nothing_from_its_person_and_answers_no_question(ada, agent):
    place = Place(("remote:example.com/team/shop",), "shop")
    said = ada.call("remember", content="Deploys run on Fridays", visibility="team", place=place)
    ada.call("forget", name=ada.call("remember", content=OTHER, place=place).id, place=place)
    agent("forget", place, name=said.id)
    question = ada.call("questions", place=place)[0].review

    for operation, arguments in (
        ("hide", {"name": said.id}),
        ("decide", {"name": question.id, "answer": "accept"}),
        ("undo", {"name": ada.call("changes", place=place)[0].id}),
        ("consent", {"what": "server"}),
        ("erase_me", {"confirm": "Ada"}),
        ("leave", {}),
        ("adopt", {"records": []}),
    ):
        with pytest.raises(OutOfScope, match="agent may not"):
            agent(operation, place, **arguments)

    assert [memory.id for memory in ada.call("list", place=place)] == [said.id]


def test_an_agent_reads_its_project_and_speaks_for_nobody(ada, agent):
    here, there = (
        Place(("remote:example.com/team/here",), "here"),
        Place(("remote:example.com/team/there",), "there"),
    )
    ada.call("remember", content="The vault opens at nine", visibility="team", place=there)
    agent("remember", here, content=OTHER)

    said = agent("remember", here, content="Builds need Node 22", created_by="user", source="user_corrected")

    for operation in ("list", "search", "export", "changes"):
        arguments = {"query": "when does the vault open"} if operation == "search" else {}
        if operation in ("list", "search", "changes"):
            arguments["all_projects"] = True
        assert "vault" not in str(agent(operation, here, **arguments)), operation
    memory = ada.call("get", name=said.id, place=here)
    assert (memory.created_by, memory.source) == ("agent:coder", m.Source.OBSERVED)


def test_a_token_of_an_agent_learns_in_no_persons_name(team, ada):
    place = Place(("remote:example.com/team/shop",), "shop")
    issued = ada.call("create_token", name="coder", agent="coder", actions=["read", "write"])
    client = TeamClient(team.address, issued.secret)
    claims = {"created_by": "user", "standing": "pinned", "source": "user_corrected", "scope": "global"}

    learnt = client.call("learn", {"draft": {"content": TEXT, **claims}}, place)
    client.close()

    memory = ada.call("get", name=learnt.id, place=place)
    assert (memory.created_by, memory.source, memory.standing) == (
        "agent:coder",
        m.Source.OBSERVED,
        m.Standing.CANDIDATE,
    )
    assert memory.project_id
