"""*Sessions*: what was said, done and learnt, what agents were told and why, and what they would be told now."""

import re
from datetime import timedelta

import pytest
from playwright.sync_api import expect

import recollect.model as m
from recollect.work.delivery.delivery import DeliveryRequest, Moment
from recollect.work.delivery.told import Told

ASK = "Make the payment webhook retries idempotent, please"
GOTCHA = "The payment webhook retries must be idempotent."


@pytest.fixture
def engine(plain_engine):
    return plain_engine


def hold_session(engine, clock, name="s1"):
    """A session in which the agent was told a rule and a gotcha, ran two tools, and learnt something."""
    engine.remember("Answer in British English", kind="preference")
    gotcha = engine.remember(GOTCHA, kind="gotcha", tags=("payment",)).id
    engine.context.register_project()
    engine.sessions.start(name, host="claude-code", branch="retries")
    told = Told()
    for moment, text in ((Moment.START, ""), (Moment.PROMPT, ASK)):
        engine.delivery.compose(DeliveryRequest(moment, text, session=name, host="claude-code"), told)
        clock.now += timedelta(seconds=1)
    engine.delivery.note_used(name, [gotcha])
    engine.delivery.flush()
    owner = m.Owner(engine.context.user_id, engine.context.project_id)
    store = engine.store
    store.messages.put(
        [
            m.Message(name, 0, "user", ASK, clock(), *owner_ids(engine)),
            m.Message(name, 1, "assistant", "Done: <b>see</b> webhook.py", clock(), *owner_ids(engine)),
        ],
        None,
        None,
        clock(),
    )
    store.episodes.add(
        owner,
        [
            m.ToolExecution("k1", clock(), name, "Edit", {"file_path": "webhook.py"}, True, duration_ms=12),
            m.ToolExecution("k2", clock(), name, "Bash", {"command": "pytest"}, False, error="1 failed"),
        ],
        [],
    )
    store.episodes.put_snapshot(
        owner,
        name,
        clock(),
        [{"id": "i1", "type": "file", "tokens": 40}],
        900,
        [{"id": "i0"}],
        "pruning",
        None,
    )
    store.put_finding(
        m.Finding("f1", name, "fp1", "fact", "The provider repeats a webhook", clock(), promoted_to=gotcha)
    )
    store.put_finding(m.Finding("f2", name, "fp2", "fact", "Short one", clock()))
    engine.sessions.end(name, summary="- Asked: make the retries idempotent\n- Webhooks are repeated")
    return gotcha


def owner_ids(engine):
    return engine.context.user_id, engine.context.project_id


def test_the_list_says_what_each_session_was_told_and_what_it_learnt(engine, clock, reader):
    hold_session(engine, clock)

    text = reader.text("/sessions")

    assert "make the retries idempotent" in text
    assert re.search(r"claude-code .* retries", text)
    assert re.search(r"told 2 times, \d+ tokens", text)
    assert "learnt 1 memory" in text


def test_a_session_shows_what_the_agent_saw_to_the_letter_with_tokens_and_reasons(engine, clock, reader):
    hold_session(engine, clock)
    records = engine.store.deliveries.of_session(engine.context.user_id, "s1")

    html, text = reader.get("/session?id=s1"), reader.text("/session?id=s1")

    for record in records:
        assert m_escape(record.text) in html
        assert f"{record.tokens} tokens" in text
    assert "at the start of the session" in text
    assert "a rule of yours, or pinned: said at every start" in text
    assert re.search(r"idempotent\. it fits what was asked \d+%", text)
    assert "Answer in British English" in text
    assert f"{sum(record.tokens for record in records)}" in text


def test_every_moment_at_which_an_agent_is_told_something_has_a_name(engine, clock, reader):
    hold_session(engine, clock)
    user, project = owner_ids(engine)
    engine.store.deliveries.put(
        [
            m.DeliveryRecord(m.new_id(), user, project, "s1", moment, "codex", clock(), 9, "…", ())
            for moment in Moment
        ]
    )

    text = reader.text("/session?id=s1&show=told")

    assert "with a file that it opened" in text
    assert [moment for moment in Moment if "_" in moment and moment in text] == []


def test_a_session_shows_what_was_done_what_was_learnt_and_why_a_finding_was_left(engine, clock, reader):
    hold_session(engine, clock)

    text = reader.text("/session?id=s1")

    assert "You Make the payment webhook retries idempotent, please" in text
    assert "Done: <b>see</b> webhook.py" in text
    assert "failed Bash pytest" in text
    assert "Short one fact no: shorter than 30 characters" in text
    assert "The provider repeats a webhook fact yes" in text
    assert "What I learned Asked: make the retries idempotent Webhooks are repeated" in text
    assert "Context snapshots" in text
    assert "pruning" in text
    assert "900" in text


def test_the_timeline_can_be_reduced_to_what_was_told(engine, clock, reader):
    hold_session(engine, clock)

    text = reader.text("/session?id=s1&show=told")

    assert "Told to the agent" in text
    assert "failed Bash" not in text


def test_a_replay_shows_what_it_would_be_told_now_and_writes_nothing(engine, clock, reader):
    gotcha = hold_session(engine, clock)
    engine.forget(gotcha)
    newer = engine.remember("Payment webhook retries: idempotent by the event's id.", kind="gotcha").id
    before = (
        engine.store.seq(),
        engine.store.get(newer),
        engine.store.deliveries.of_session(engine.context.user_id, "s1"),
        engine.store.measures.by_session(*owner_ids(engine)),
    )

    text = reader.text("/session/replay?id=s1")
    engine.delivery.flush()
    engine.retrieval.process_searches()

    then, _, now = text.partition(ASK)[2].partition("Now")
    assert GOTCHA in then
    assert GOTCHA not in now
    assert "by the event's id" in now
    assert before == (
        engine.store.seq(),
        engine.store.get(newer),
        engine.store.deliveries.of_session(engine.context.user_id, "s1"),
        engine.store.measures.by_session(*owner_ids(engine)),
    )
    assert engine.gaps() == ()


def test_sessions_are_found_by_what_was_said(engine, clock, reader):
    assert "Nothing that was said matches." in reader.text("/sessions?q=webhook")
    hold_session(engine, clock)

    assert "make the retries idempotent" in reader.text("/sessions?q=webhook")


def test_an_unknown_session_and_one_of_another_user_are_not_shown(engine, clock, reader):
    hold_session(engine, clock)
    engine.store.put_session(m.Session("theirs", "eve", None, clock(), summary="- secret plan"))

    assert "secret plan" not in reader.text("/session?id=theirs", 400)
    assert "No session 'nope'" in reader.text("/session?id=nope", 400)
    assert "secret plan" not in reader.text("/sessions?p=all")


def test_without_sessions_the_page_says_how_to_get_some(reader):
    assert "recollect extract --since 30d" in reader.text("/sessions")


def test_a_person_finds_why_a_memory_was_injected(page, site, clock):
    hold_session(site.engine, clock)
    page.goto("/")
    page.keyboard.press("g")
    page.keyboard.press("s")

    page.get_by_role("link", name="make the retries idempotent").click()
    page.get_by_role("link", name=re.compile("^Told to the agent")).click()

    row = page.get_by_role("row").filter(has_text="fits what was asked")
    expect(row).to_contain_text("payment webhook")
    page.get_by_role("link", name="What would it be told now?").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("What it would be told now")


def m_escape(text):
    from markupsafe import escape

    return str(escape(text))
