import pytest

from recollect.errors import StoreBusy

pytestmark = pytest.mark.anyio


def said(prompt):
    (message,) = prompt.messages
    return message.content.text


async def test_the_slash_commands_are_prompts(connect):
    async with connect() as client:
        prompts = (await client.list_prompts()).prompts

    assert [prompt.name for prompt in prompts] == ["remember", "forget", "pin", "consolidate", "memory"]
    assert all(
        prompt.description and argument.description for prompt in prompts for argument in prompt.arguments
    )


async def test_a_host_that_would_show_each_command_twice_gets_no_prompts(connect):
    async with connect("gemini-cli-mcp-client-recollect") as client:
        assert (await client.list_prompts()).prompts == []


@pytest.mark.parametrize(
    "name, arguments, command",
    [
        ("remember", {"text": "Don't use npm"}, """`recollect remember 'Don'"'"'t use npm'`"""),
        ("forget", {"memory": "redis"}, "action=forget"),
        ("pin", {"memory": "67swzj"}, "`recollect pin 67swzj`"),
        ("consolidate", {}, "`recollect consolidate`"),
        ("consolidate", {}, "`recollect describe - --created-by agent:NAME`"),
        ("memory", {"action": "budget", "what": "900"}, "`recollect budget 900`"),
        ("memory", {"action": "alias", "what": "add db 'data base'"}, "`recollect alias add db 'data base'`"),
        ("memory", {"action": "alias", "what": "add it's"}, """`recollect alias add 'it'"'"'s'`"""),
        ("memory", {"action": "auto", "what": "off"}, "`recollect auto off`"),
        ("memory", {"action": "config", "what": "aggressive"}, "`recollect preset aggressive`"),
        ("memory", {"action": "search", "what": "; rm -rf /"}, "No memory matches."),
        ("memory", {"action": "serach"}, "Did you mean 'search'?"),
    ],
)
async def test_what_changes_something_names_the_command(connect, engine, name, arguments, command):
    async with connect() as client:
        prompt = await client.get_prompt(name, arguments)

    assert command in said(prompt)
    assert engine.list() == ()


@pytest.mark.parametrize(
    "arguments, shown",
    [
        ({}, "shop: 1 memories (1 gotcha), 0 open conflicts."),
        ({"action": "list"}, "Tests need a running Redis"),
        ({"action": "list", "what": "decision"}, "No memory matches"),
        ({"action": "search", "what": "Redis"}, "Tests need a running Redis"),
        ({"action": "budget"}, "tokens in this project"),
        ({"action": "config"}, "Preset: balanced."),
    ],
)
async def test_what_only_looks_is_answered_at_once(connect, engine, arguments, shown):
    engine.remember("Tests need a running Redis", kind="gotcha")
    async with connect() as client:
        prompt = await client.get_prompt("memory", arguments)

    assert shown in said(prompt)


async def test_a_prompt_without_a_store_says_so(connect):
    def busy(folder, actor):
        raise StoreBusy("Another process holds the store.", "Try again.")

    async with connect(opener=busy) as client:
        prompt = await client.get_prompt("memory", {})

    assert "Memory is unavailable: Another process holds the store. Try again." in said(prompt)


async def test_the_briefing_is_a_resource(connect, engine):
    engine.pin(engine.remember("Use pnpm to run scripts", kind="preference").id)
    async with connect() as client:
        listed = (await client.list_resources()).resources
        (content,) = (await client.read_resource(listed[0].uri)).contents

    assert listed[0].uri == "recollect://briefing"
    assert "Use pnpm to run scripts" in content.text
