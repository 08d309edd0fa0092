"""A window over a whole session: what it sends, forgets, finds again and saves."""

import subprocess
import sys
import threading

import pytest

from apis import is_accepted
from fakes import FakeClock
from recollect import ContextWindow
from recollect.engine import Engine
from recollect.errors import Refused
from recollect.work.window import window as working
from recollect.work.window.item import ItemType
from recollect.work.window.sources import Extra

LIMIT = 6_000
FACT = "The receipts are printed by the daemon on port 9137."
SECRET = "ghp_16C7e42F292c6912E7710c838347Ae178B4a"


class Shop:
    """ExtraSources that know a little about a shop."""

    def code(self, text, budget):
        return [Extra("till.py:1-2\ndef pay(): ...", ItemType.CODE, 0.9, "till.py", (1, 2))]

    def past_work(self, text, budget):
        return [Extra("Past work: repaired the cart: done", relevance=0.8)]

    def memories(self, text, budget):
        return [Extra("The till prints twice on Mondays."), Extra("x " * 50_000)]


class Broken(Shop):
    def code(self, text, budget):
        raise RuntimeError("no graph")


class Slow(Shop):
    def __init__(self):
        self.released = threading.Event()

    def memories(self, text, budget):
        self.released.wait(30)
        return [Extra("the late answer")]


def work(window, turns, words="the cart rounds down. "):
    """So many calls of a tool, about 500 tokens each."""
    for number in range(turns):
        name = f"call_{window.prunings}_{len(window.items)}_{number}"
        window.add("", ItemType.ASSISTANT, calls=[(name, "Bash", {"command": f"make test-{number}"})])
        window.add(f"run {number}: " + words * 100, ItemType.TOOL_RESULT, call=name)
        window.messages()


def long_ago(window, clock, text, *details, **more):
    """Said hours and many calls before now."""
    window.add(text, *details, **more)
    window.add("Go on.")
    clock.advance(hours=5)
    work(window, 20)


@pytest.fixture(params=["engine", "no engine"])
def window(request, clock):
    found = request.getfixturevalue("engine") if request.param == "engine" else None
    return ContextWindow(found, LIMIT, "s1", clock)


@pytest.mark.parametrize("form", ["anthropic", "openai"])
def test_a_long_session_never_goes_over_the_limit_and_stays_valid(window, form, clock):
    window.add("You mend tills.", ItemType.SYSTEM)
    sizes = []

    for turn in range(12):
        clock.advance(minutes=3)
        messages = window.prepare(f"Question {turn}", form)
        assert is_accepted(messages, form)
        sizes.append(window.tokens)
        work(window, 3)

    assert window.prunings >= 2
    assert max(sizes) <= LIMIT


def test_the_system_prompt_is_apart_for_anthropic_and_first_for_openai(window):
    window.add("You mend tills.", ItemType.SYSTEM)

    assert window.system == "You mend tills."
    assert [each["role"] for each in window.prepare("Hello", "anthropic")] == ["user"]
    assert window.messages("openai")[0] == {"role": "system", "content": "You mend tills."}


def test_what_left_the_window_is_found_by_its_words_and_comes_back(window, clock):
    long_ago(window, clock, "Notes on the shop:\n" * 30 + FACT)
    assert FACT not in str(window.messages())

    found = window.find("Which port does the receipt daemon use?")
    window.restore(found[0].id)

    assert FACT in str(window.messages())


def test_what_came_back_and_left_again_is_found_once(window, clock):
    long_ago(window, clock, "Notes on the shop:\n" * 30 + FACT)
    back = window.restore(window.find("receipts daemon port")[0].id)

    long_ago(window, clock, "Something else.")

    assert [each.text.count(FACT) for each in window.find("receipts daemon port")] == [1]
    assert FACT in window.restore(back.id).content


def test_a_result_comes_back_by_its_own_id_with_the_call_it_answered(window, clock):
    window.add("Go.")
    window.add("", ItemType.ASSISTANT, calls=[("c1", "Bash", {"command": "cat ports.txt"})])
    answer = window.add(FACT, ItemType.TOOL_RESULT, call="c1")
    clock.advance(hours=5)
    work(window, 20)

    back = window.restore(answer.id)

    assert FACT in back.content
    assert "cat ports.txt" in back.content


def test_an_item_that_never_left_is_simply_there(window):
    said = window.add(FACT)

    assert window.restore(said.id) is said


def test_an_unknown_id_is_refused(window):
    with pytest.raises(Refused, match="nothing1"):
        window.restore("nothing1")


def test_a_huge_item_is_sent_short_and_kept_whole(window):
    text = "\n".join(f"line {number} of the log" for number in range(5_000))
    window.add("Look at this log.")
    window.add(f"{text}\n{FACT}", ItemType.CODE)

    sent = str(window.messages())
    whole = window.restore(window.find("line 2500 of the log")[0].id)

    assert "line 2500 " not in sent
    assert "line 2500 " in whole.content


def test_a_tools_result_needs_the_call_it_answers(window):
    with pytest.raises(Refused, match="needs `call`"):
        window.add("ok", ItemType.TOOL_RESULT)


def test_a_type_may_be_given_by_its_name(window):
    said = window.add("You fix bugs in a web shop.", "system_prompt")

    assert said.sticky
    assert window.system == "You fix bugs in a web shop."


def test_messages_of_an_sdk_can_be_put_in(window):
    window.extend(
        [
            {"role": "user", "content": "Hi"},
            {"role": "assistant", "content": [{"type": "text", "text": "Yes?"}]},
        ]
    )

    assert [each.type for each in window.items] == [ItemType.USER, ItemType.ASSISTANT]


def test_a_message_brings_code_past_work_and_memories_with_it(clock):
    window = ContextWindow(None, LIMIT, clock=clock, sources=Shop())

    sent = str(window.prepare("Why does the till print twice?"))

    assert (
        sent.index("def pay")
        < sent.index("repaired the cart")
        < sent.index("Mondays")
        < sent.index("Why does")
    )
    assert window.tokens < 500  # what would not fit is not there


def test_what_is_in_the_window_is_not_added_twice(clock):
    window = ContextWindow(None, LIMIT, clock=clock, sources=Shop())
    window.prepare("Why does the till print twice?")

    window.prepare("And on Mondays?")

    assert [each.type for each in window.items].count(ItemType.CODE) == 1


def test_a_source_that_fails_is_done_without(clock, caplog):
    window = ContextWindow(None, LIMIT, clock=clock, sources=Broken())

    sent = str(window.prepare("Why does the till print twice?"))

    assert "Mondays" in sent
    assert "The search for code failed" in caplog.text


def test_a_source_that_is_slow_is_waited_for_the_first_time_only(clock, monkeypatch):
    monkeypatch.setattr(working, "DEADLINE", 0.0)
    slow = Slow()
    slow.released.set()
    window = ContextWindow(None, LIMIT, clock=clock, sources=slow)

    first = str(window.prepare("Why does the till print twice?"))
    slow.released.clear()
    later = window.prepare("And on Tuesdays?")

    assert "the late answer" in first
    assert str(later).count("the late answer") == 1
    assert "And on Tuesdays?" in str(later)
    slow.released.set()


def test_a_process_exits_cleanly_while_a_source_still_searches(tmp_path):
    script = """
from recollect import ContextWindow
from recollect.work.window import window as working
working.FIRST_DEADLINE = 0.0

class Model:
    def code(self, text, budget):
        import onnxruntime, numpy  # as loading a model does, while the main thread exits
        sum(range(5_000_000))
        print("finished", flush=True)
        return ()
    past_work = memories = lambda self, text, budget: ()

ContextWindow(sources=Model()).prepare("Why does the till print twice?")
"""

    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, cwd=tmp_path)

    assert (done.returncode, done.stdout, done.stderr) == (0, "finished\n", "")


def test_code_past_work_and_memories_of_the_engine_are_used(engine, folder, clock):
    (folder / "till.py").write_text("def print_receipt(order):\n    return order.total * 2\n")
    engine.remember("The till prints twice because of the retry in the queue", kind="gotcha")
    engine.episodes.start_task("Mend the till that prints twice", session="s0")
    engine.episodes.finish_task(outcome="the queue tries once")
    window = ContextWindow(engine, LIMIT, "s1", clock)

    sent = str(window.prepare("The till prints twice: why does print_receipt in till.py do that?"))

    assert "order.total * 2" in sent
    assert "the queue tries once" in sent
    assert "retry in the queue" in sent


def test_a_new_process_goes_on_where_the_old_one_stopped(engine, home, folder, clock, embedder):
    window = ContextWindow(engine, LIMIT, "s1", clock)
    window.current_task = "till"
    window.prepare("Mend the till.")
    work(window, 20)
    window.prepare("Go on.")
    before = window.messages()

    with Engine.open(folder, home, embedder=embedder, clock=clock) as other:
        again = ContextWindow.recover(other, "s1", LIMIT, clock)

        assert again.messages() == before
        assert again.tokens == window.tokens
        assert again.current_task == "till"

        work(again, 20)
        again.prepare("And on.")
        assert ContextWindow.recover(other, "s1", LIMIT, clock).messages() == again.messages()


def test_a_session_without_a_window_cannot_be_recovered(engine):
    with pytest.raises(Refused, match="s9"):
        ContextWindow.recover(engine, "s9")


def test_no_secret_reaches_the_store(engine, execute, clock):
    window = ContextWindow(engine, LIMIT, "s1", clock)
    long_ago(window, clock, f"export GITHUB_TOKEN={SECRET}")
    window.prepare(f"Use {SECRET}.")

    kept = execute("SELECT text, gist FROM pruned") + execute("SELECT item FROM window_items")

    assert kept
    assert SECRET not in str(kept)


@pytest.mark.parametrize("name", ["url", "name", "data", "id", "content"])
def test_no_secret_in_a_tools_input_reaches_the_store(engine, execute, clock, name):
    window = ContextWindow(engine, LIMIT, "s1", clock)
    window.add(
        "", ItemType.ASSISTANT, calls=[("c1", "fetch", {name: f"x {SECRET}", "more": [{name: SECRET}]})]
    )
    window.add("ok", ItemType.TOOL_RESULT, call="c1")
    window.extend(
        [
            {"role": "user", "content": "Go."},
            {
                "role": "assistant",
                "content": [
                    {
                        "type": "tool_use",
                        "id": "c2",
                        "name": "x",
                        "input": {name: SECRET},
                        "cache_control": {"type": "ephemeral"},
                    }
                ],
            },
            {
                "role": "user",
                "content": [
                    {
                        "type": "tool_result",
                        "tool_use_id": "c2",
                        "content": [{"type": "text", "text": SECRET}],
                    }
                ],
            },
        ]
    )

    window.snapshot()

    [kept] = execute("SELECT group_concat(item) FROM window_items")
    assert "tool_result" in str(kept)
    assert SECRET not in str(kept)


def test_hidden_reasoning_is_never_kept(engine, execute, clock):
    window = ContextWindow(engine, LIMIT, "s1", clock)
    thought = {"type": "thinking", "thinking": "a hidden thought", "signature": "c2ln"}
    window.extend(
        [
            {"role": "user", "content": "Hi"},
            {"role": "assistant", "content": [thought, {"type": "text", "text": "Hm."}]},
        ]
    )
    clock.advance(hours=5)
    work(window, 20)
    window.prepare("Go on.")

    assert "hidden thought" not in str(
        execute("SELECT text FROM pruned") + execute("SELECT item FROM window_items")
    )


def test_pruning_is_noted_in_the_episodes(engine, execute, clock):
    window = ContextWindow(engine, LIMIT, "s1", clock)

    long_ago(window, clock, "def pay(): ...\n" * 100, ItemType.CODE, path="till.py", lines=(1, 100))

    [(reason, total)] = execute("SELECT reason, total_tokens FROM context_snapshots ORDER BY id LIMIT 1")
    assert (reason, total < LIMIT) == ("pruning", True)
    assert execute("SELECT file_path FROM file_interactions") == [("till.py",)]


def test_texts_go_after_their_days(engine, execute, clock):
    window = ContextWindow(engine, LIMIT, "s1", clock)
    long_ago(window, clock, FACT)

    clock.advance(days=15)
    long_ago(window, clock, "Something else.")

    assert window.find("receipts daemon port 9137") == []


def test_nothing_is_kept_where_the_settings_say_so(home, folder, clock, embedder, execute):
    (home / "config.toml").write_text("pruned_days = 0\n")
    with Engine.open(folder, home, embedder=embedder, clock=clock) as engine:
        window = ContextWindow(engine, LIMIT, "s1", clock)

        long_ago(window, clock, FACT)

        assert window.prunings
        assert (
            execute("SELECT count(*) FROM pruned") == execute("SELECT count(*) FROM window_items") == [(0,)]
        )


def test_a_project_that_is_forgotten_takes_its_windows_with_it(engine, execute, clock):
    engine.context.register_project()
    window = ContextWindow(engine, LIMIT, "s1", clock)
    long_ago(window, clock, FACT)
    assert window.find("receipts daemon port")

    engine.store.clear(engine.settings.user, engine.project.id, clock())

    assert window.find("receipts daemon port") == []
    assert execute("SELECT count(*) FROM window_items") == [(0,)]


def test_other_sessions_texts_are_not_found(engine, clock):
    window = ContextWindow(engine, LIMIT, "s1", clock)
    long_ago(window, clock, FACT)
    assert window.find("receipts daemon port")

    assert ContextWindow(engine, LIMIT, "s2", FakeClock()).find("receipts daemon port") == []


def test_a_store_that_cannot_be_written_to_stops_nobody(engine, clock, home, monkeypatch, caplog):
    window = ContextWindow(engine, LIMIT, "s1", clock)
    monkeypatch.setattr(engine.store._db, "read_only", True)

    long_ago(window, clock, FACT)

    assert window.find("receipts daemon port")[0].text == FACT
    assert "in this process only" in caplog.text
