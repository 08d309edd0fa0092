"""What an agent is told at each moment, through the engine."""

from datetime import timedelta

import pytest

import recollect.model as m
from recollect.engine import Engine
from recollect.memory.sidecar import LocalSidecar
from recollect.work.delivery.delivery import DeliveryRequest, Moment
from recollect.work.delivery.told import Told

NEVER = "Never run rm -rf build: the release artefacts live there."
GOTCHA = "The payment webhook retries must be idempotent."
RULES = (
    "Commit messages are imperative",
    "Tests are named as sentences",
    "Money is stored in cents",
    "Times are UTC",
    "Branches carry the ticket number",
    "Errors have a hint",
    "Public functions have docstrings",
    "Migrations are numbered",
    "Logs hold no secrets",
)
ASK = "Make the payment webhook retries idempotent, please"


@pytest.fixture
def engine(home, folder, embedder):
    with Engine.open(folder, home, embedder=embedder) as opened:
        yield opened


@pytest.fixture
def agent(home, folder, embedder):
    """An agent beside the user."""
    with Engine.open(folder, home, embedder=embedder, actor="agent:codex") as opened:
        yield opened


@pytest.fixture
def tell(engine):
    """What the composer says to one session."""
    told = Told()

    def tell(moment, text="", **options):
        known = options.pop("told", told)
        request = DeliveryRequest(moment, text, **{"session": "s1", "host": "claude-code", **options})
        return engine.delivery.compose(request, known)

    return tell


def rules(text):
    return text.partition("<always>\n")[2].partition("</always>")[0].splitlines()


def test_a_stated_preference_is_a_rule_without_a_pin(engine, tell):
    engine.remember("Answer in British English", kind="preference")

    assert "Answer in British English" in tell(Moment.START).text


def test_a_correction_of_a_tool_replaces_whatever_an_agent_said_of_using_it(engine, tell):
    engine.remember("The front end is built with `npm run build`", created_by="agent:coder")
    engine.remember("Use pnpm, not npm", correction=True)

    told = tell(Moment.PROMPT, "Build the front end once more, please").text

    assert "Use pnpm, not npm" in told and "npm run" not in told


def test_rules_are_at_most_eight_lines_with_pinned_ones_and_corrections_first(engine, tell):
    for text in RULES:
        engine.remember(text, kind="convention")
    engine.remember("Use pnpm, not npm", kind="correction")
    engine.pin(engine.remember("The port of the daemon is 7533").id)

    told = rules(tell(Moment.START).text)

    assert len(told) == 8
    assert "7533" in told[0]
    assert any("pnpm" in line for line in told)


def test_a_rule_for_all_work_comes_before_newer_ones_about_one_file(engine, tell):
    engine.remember("Public functions have docstrings", kind="convention")
    for text in RULES[:8]:
        engine.remember(text, kind="decision", file_paths=["shop/prices.py"])

    told = rules(tell(Moment.START).text)

    assert len(told) == 8
    assert any("docstrings" in line for line in told)


def test_an_agents_word_is_a_rule_once_it_was_used(engine, agent, tell):
    stored = agent.remember("Totals are rounded half up", kind="convention")

    before = tell(Moment.START, told=Told()).text
    engine.retrieval.note_use([stored.id])

    assert "rounded" not in before
    assert "rounded" in tell(Moment.START, told=Told()).text


def test_nothing_is_said_twice_to_a_session_whichever_process_says_it(engine, tell, home, folder, embedder):
    engine.remember("Answer in British English", kind="preference")
    first = tell(Moment.START)
    engine.delivery.flush()

    with Engine.open(folder, home, embedder=embedder) as other:
        told = other.delivery.told("s1")
        again = other.delivery.compose(DeliveryRequest(Moment.START, session="s1"), told)

    assert first.text
    assert again.text == ""


def test_after_a_compaction_it_is_said_again_with_what_the_task_needs(engine, tell):
    engine.remember("Answer in British English", kind="preference")
    engine.remember(GOTCHA, kind="gotcha")
    tell(Moment.START)
    tell(Moment.PROMPT, ASK)

    again = tell(Moment.AFTER_COMPACTION, ASK)

    assert "British" in again.text
    assert GOTCHA in again.text
    assert tell(Moment.PROMPT, ASK).text == ""


def test_a_session_whose_start_nobody_heard_is_told_at_its_first_prompt(engine, tell):
    engine.remember("Answer in British English", kind="preference")

    assert "British" in tell(Moment.PROMPT, ASK).text


def test_a_first_prompt_says_what_a_start_that_is_still_on_its_way_may_not_deliver(engine):
    rule = engine.remember("Answer in British English", kind="preference").id
    engine.remember(GOTCHA, kind="gotcha")
    told = Told()

    class StartMeanwhile(LocalSidecar):
        def verify(self, text, hits):
            told.has_started = True
            told.add([rule])
            return super().verify(text, hits)

    request = DeliveryRequest(Moment.PROMPT, ASK, session="s1")
    delivery = engine.delivery.compose(request, told, StartMeanwhile(engine.context.embedder))

    assert "British" in delivery.text


def test_a_rule_of_the_users_asks_before_a_tool_and_an_agents_only_warns(engine, agent, tell):
    engine.remember(NEVER, kind="negative", triggers=("rm -rf",))
    agent.remember("Building takes ten minutes", kind="negative", triggers=("make all",))

    forbidden = tell(Moment.BEFORE_TOOL, "cd x && rm -rf build", tool="Bash")
    slow = tell(Moment.BEFORE_TOOL, "make all", tool="Bash")

    assert NEVER in forbidden.ask
    assert NEVER in forbidden.text
    assert slow.ask == ""
    assert "ten minutes" in slow.text


def test_a_trigger_fires_on_a_prompt(engine, tell):
    engine.remember("Releases need the changelog first", kind="procedure", triggers=("cut a release",))

    assert "changelog" in tell(Moment.PROMPT, "please cut a release now").text


def test_a_conflict_is_shown_at_a_prompt(engine, agent, tell):
    engine.remember("The payment webhook listens on port 8080")
    agent.remember("The payment webhook listens on port 9090")
    tell(Moment.START)

    told = tell(Moment.PROMPT, "Which port does the payment webhook listen on?")

    assert "CONFLICT" in told.text
    assert told.conflicts == 1


def test_a_failure_brings_what_fixed_it_once(engine, tell):
    known = "`npm test` failed: “Error: Cannot find module jest”. It passed after `npm install jest`."
    engine.remember(known, kind="error_pattern")
    error = "Exit code 1\nError: Cannot find module jest"

    first, again = (tell(Moment.AFTER_FAILURE, error, command="npm test") for _ in range(2))

    assert "npm install jest" in first.text
    assert again.text == ""


@pytest.mark.parametrize(
    "error",
    [
        "RuntimeError: SPATIALITE is not set, cannot load mod_spatialite",
        "sqlite3.OperationalError: no such table: dogs",
        "ModuleNotFoundError: No module named 'sqlite_fts4'",
        "AssertionError: assert 3 == 4",
    ],
)
def test_a_failure_brings_nothing_that_fixed_another_error(engine, tell, monkeypatch, error):
    monkeypatch.setattr(
        "recollect.memory.ranking.KNOWN_ERROR_SCORE", 0.0
    )  # whatever the model takes for similar
    engine.remember(
        "sqlite3.OperationalError: no such module: fts5. Install pysqlite3-binary", kind="error_pattern"
    )

    other = tell(Moment.AFTER_FAILURE, f"Exit code 1\n{error}", command="pytest")
    same = tell(Moment.AFTER_FAILURE, "Exit code 1\nsqlite3.OperationalError: no such module: fts5")

    assert other.text == ""
    assert "pysqlite3-binary" in same.text


def test_a_resumed_session_is_told_new_rules_and_not_ever_less_important_ones(engine, tell):
    for text in RULES:
        engine.remember(text, kind="convention")
    first = tell(Moment.START)
    engine.remember("Answer in British English", kind="preference")

    resumed = tell(Moment.START)

    assert len(rules(first.text)) == 8
    assert [line.partition(" ! ")[2] for line in rules(resumed.text)] == ["Answer in British English"]


def test_the_line_of_a_conflict_makes_no_room_for_a_less_important_rule_later(engine, tell):
    names = [engine.remember(text, kind="convention").id for text in RULES]
    fact = engine.remember("The release notes are written by hand", kind="fact").id
    engine.link(names[-1], fact, "contradicts")  # of the newest rule, which comes first
    first = tell(Moment.START)

    resumed = tell(Moment.START)

    assert len(rules(first.text)) == 8 and "CONFLICT" in first.text
    assert resumed.text == ""


def test_the_last_session_that_did_something_is_summarised_at_the_start(engine, tell, clock):
    now, user, project = m.utc_now(), engine.settings.user, engine.project.id
    for name, age, summary in (
        ("did", 2, "- Asked: fix the cart\n- Changed: src/cart.py"),
        ("empty", 1, "- Asked: hello"),
    ):
        started = now - timedelta(hours=age)
        engine.store.put_session(m.Session(name, user, project, started, ended_at=now, summary=summary))

    told = tell(Moment.START).text

    assert "src/cart.py" in told
    assert "hello" not in told


def test_what_was_told_is_kept_with_its_items_and_what_was_used(engine, tell):
    engine.remember(GOTCHA, kind="gotcha")
    tell(Moment.START)
    shown = tell(Moment.PROMPT, ASK)

    engine.delivery.note_used("s1", shown.memories)
    engine.delivery.flush()

    kept = engine.store.deliveries.of_session(engine.settings.user, "s1")
    assert [record.moment for record in kept] == ["start", "prompt"]
    assert kept[1].text == shown.text
    assert kept[1].items[0].used_at is not None
    assert kept[1].items[0].probability > 0.2
    assert engine.get(shown.memories[0]).access_count == 1


def test_a_text_fits_into_what_the_host_shows(engine, tell):
    for number in range(12):
        engine.remember(f"Convention {number}: " + f"word{number} " * 40, kind="convention")

    told = tell(Moment.START, longest=600)

    assert 0 < len(told.text) <= 600


def test_without_the_model_words_are_enough(engine, tell, embedder, monkeypatch):
    engine.remember(GOTCHA, kind="gotcha")
    for text in RULES:
        engine.remember(text)
    tell(Moment.START)
    monkeypatch.setattr(embedder, "embed", lambda texts: pytest.fail("the model was used"))

    told = tell(Moment.PROMPT, "Must payment webhook retries stay idempotent?", use_model=False)

    assert GOTCHA in told.text


def test_a_prompt_brings_the_files_to_look_at_first(engine, folder, tell):
    (folder / "tills.py").write_text("def print_receipt(order):\n    return order.total\n")
    (folder / "carts.py").write_text("def add_item(cart, item):\n    cart.append(item)\n")
    (folder / "test_tills.py").write_text(
        "from tills import print_receipt\n\ndef test_receipt():\n    assert print_receipt\n"
    )
    tell(Moment.START)
    unread = tell(
        Moment.PROMPT, "print_receipt in tills.py forgets the tax, fix it", told=Told(has_started=True)
    )
    engine.code.refresh()
    engine.code.files_to_show("tills", wait=True)

    told = tell(Moment.PROMPT, "print_receipt in tills.py forgets the tax, fix it")

    assert unread.text == ""
    assert "[FILE] tills.py\nSymbols: print_receipt | Tests: test_tills.py\n" in told.text
    assert tell(Moment.PROMPT, "thanks, that looks great!").text == ""


def test_a_file_is_named_again_for_another_of_its_functions_and_not_for_the_same(engine, folder, tell):
    (folder / "tills.py").write_text(
        "def print_receipt(order):\n    return order.total\n\n\ndef open_drawer(key):\n    return key\n"
    )
    engine.code.refresh()
    engine.code.files_to_show("tills", wait=True)
    tell(Moment.START)

    first, again, other = (
        tell(Moment.PROMPT, text).text
        for text in (
            "print_receipt in tills.py forgets the tax, fix it",
            "print_receipt in tills.py still forgets the tax",
            "open_drawer in tills.py jams, fix it",
        )
    )

    assert "Symbols: print_receipt" in first
    assert again == ""
    assert "[FILE] tills.py\nSymbols: open_drawer" in other


def test_what_the_last_session_left_open_is_told_at_the_start(engine, tell):
    now, user, project = m.utc_now(), engine.settings.user, engine.project.id
    engine.store.put_session(m.Session("s0", user, project, now, ended_at=now, summary="- Changed: till.py"))
    engine.episodes.start_task("Mend the till that prints twice", session="s0")

    assert "- Left open: Mend the till that prints twice" in tell(Moment.START).text


def test_being_linked_costs_a_memory_nothing(engine, tell):
    hit = engine.remember(GOTCHA, kind="gotcha")
    linked = engine.remember("Refunds are paid by the night job")
    engine.link(hit.id, linked.id)
    before = engine.get(linked.id).confidence

    for number in range(5):
        tell(Moment.PROMPT, f"{ASK} {number}", told=Told(has_started=True))
    engine.delivery.flush()

    assert engine.get(linked.id).confidence == before


@pytest.fixture
def last_session(engine):
    """Stores a session that is over, with its summary and with what it did about its task."""

    def store(summary, task="", *, commands=(), files=()):
        now, user, project = m.utc_now(), engine.settings.user, engine.project.id
        engine.store.put_session(m.Session("s0", user, project, now, ended_at=now, summary=summary))
        if task:
            engine.episodes.start_task(task, session="s0")
        for path in files:
            engine.episodes.record("Edit", {"file_path": path}, session="s0", files=[(path, "edit")])
        for command, success in commands:
            engine.episodes.record("Bash", {"command": command}, session="s0", success=success)
        engine.episodes.flush()
        engine.episodes.close_task("s0")

    return store


def test_a_session_that_only_stated_a_rule_is_not_told_of_beside_the_rule(engine, last_session, tell):
    rule = "Always show prices with VAT."
    engine.remember(rule, kind="preference")
    last_session(f"- Asked: {rule}\n- {rule}", rule)

    text = tell(Moment.START).text

    assert text.count("prices with VAT") == 1
    assert "Left open" not in text


@pytest.mark.parametrize(
    "commands, why", [((), "neither checked nor committed"), ((("pytest -q", False),), "pytest failed last")]
)
def test_what_was_left_open_says_why_and_says_nothing_twice(last_session, tell, commands, why):
    task = "Round the discount up"
    last_session(f"- Asked: {task}\n- Changed: cart.py", task, commands=commands, files=["cart.py"])

    text = tell(Moment.START).text

    assert f"- Left open: {task} ({why})\n- Changed: cart.py\n" in text
    assert "Asked" not in text


def test_what_a_session_learnt_is_not_told_of_beside_the_memory_of_it(engine, last_session, tell):
    learnt = "`make pay` failed: “PaymentError: no webhook”. It passed after `make webhook`."
    engine.remember(learnt, kind="error_pattern")
    last_session(f"- Asked: make it pay\n- {learnt}\n- Changed: pay.py", "make it pay")

    told = tell(Moment.PROMPT, "`make pay` fails with PaymentError: no webhook").text

    assert "- Changed: pay.py" in told
    assert told.count("It passed after `make webhook`") == 1


def test_a_task_that_was_checked_is_not_left_open(last_session, tell):
    task = "Round the discount up"
    last_session(
        f"- Asked: {task}\n- Changed: cart.py", task, commands=[("pytest -q", True)], files=["cart.py"]
    )

    assert f"- Asked: {task}\n- Changed: cart.py\n" in tell(Moment.START).text
