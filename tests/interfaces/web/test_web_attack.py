"""Attacks on the pages: hostile text in everything that is stored, and forms that are not ours."""

import re

import pytest
from test_web_sessions import owner_ids

import recollect.model as m
from recollect.interfaces.web.pages import PAGES
from recollect.work.delivery.delivery import DeliveryRequest, Moment
from recollect.work.delivery.told import Told

HOSTILE = '<img src=x onerror="window.hurt=1"><script>window.hurt=1</script>\' onmouseover="window.hurt=1'
# What the text would be if it were HTML: the policy keeps it from running, so it is looked for.
INJECTED = "body :is(img, [onerror], [onmouseover]), main script:not([src])"
PATHS = (
    "/?p=all",
    "/sessions",
    "/session?id=s1",
    "/session/replay?id=s1",
    "/code",
    "/code/task?q=hurt",
    "/graph",
    "/work",
    "/changes",
    "/records",
    "/records/redactions",
    "/records/deleted",
    "/records/metrics",
    "/settings",
    "/settings/migration",
    "/review",
)


@pytest.fixture
def hostile(site, clock, folder):
    """A store in which every text that others can write is an attack."""
    engine = site.engine
    owner = m.Owner(*owner_ids(engine))
    name = "<img src=x onerror=hurt()>.py"  # no slash: a file is called so
    (folder / name).write_text("def hurt():\n    return 1\n")
    engine.context.register_project()
    engine.code.refresh()
    engine.maps.rescan()
    first = engine.remember(f"Never {HOSTILE}", kind="gotcha", tags=("hurt",)).id
    engine.preferences.add_alias("hurt", [HOSTILE[:60]])
    engine.preferences.start_season(HOSTILE[:40])
    engine.sessions.start("s1", host=HOSTILE[:60], branch=HOSTILE[:60])
    told = Told()
    for moment, text in ((Moment.START, ""), (Moment.PROMPT, f"Never {HOSTILE}")):
        engine.delivery.compose(DeliveryRequest(moment, text, session="s1", host="codex"), told)
    engine.delivery.flush()
    store = engine.store
    messages = [m.Message("s1", 0, "user", HOSTILE, clock(), *owner_ids(engine))]
    store.messages.put(messages, None, None, clock())
    store.episodes.start(owner, m.Task("t1", "s1", HOSTILE, clock()), "hurt")
    call = m.ToolExecution(
        "k1", clock(), "s1", HOSTILE, {"command": HOSTILE, HOSTILE: 1}, False, "t1", error=HOSTILE
    )
    touch = m.FileTouch("f1", clock(), "s1", HOSTILE, m.FileOperation.EDIT, task="t1")
    store.episodes.add(owner, [call], [touch])
    items = [{"id": HOSTILE, "type": HOSTILE, "tokens": 1}]
    store.episodes.put_snapshot(owner, "s1", clock(), items, 9, [{"id": HOSTILE}], HOSTILE, None)
    store.put_finding(m.Finding("f1", "s1", "fp", "fact", HOSTILE, clock(), promoted_to=first))
    store.put_gap(m.Gap(m.new_id(), engine.project.id, HOSTILE, clock()))
    store.log("redact", HOSTILE, clock(), first, {HOSTILE: HOSTILE, "kind": HOSTILE})
    review = m.Review(m.new_id(clock()), *owner_ids(engine), "seed", (first,), HOSTILE, clock())
    store.reviews.ask(review)
    store.put_clusters(
        engine.project.id, [m.Cluster("c1", engine.project.id, HOSTILE, "fake", b"", (first,), clock())]
    )
    engine.sessions.end("s1", summary=f"- {HOSTILE}")
    engine.forget(engine.remember(f"Second {HOSTILE}").id)


def test_hostile_text_of_sessions_work_code_and_records_is_only_text(page, hostile):
    hurt = {}
    for path in PATHS:
        page.goto(path)
        page.mouse.move(400, 300)
        found = page.evaluate("window.hurt ?? null"), page.locator(INJECTED).count()
        if found != (None, 0):
            hurt[path] = found

    assert hurt == {}


def test_every_form_needs_its_token_and_no_get_does_what_it_does(ask, site, engine, cookie):
    form = {"Origin": site.address, "Content_Type": "application/x-www-form-urlencoded", "Cookie": cookie[0]}
    read = {path for shown in PAGES for path in (shown.path, *shown.more)}
    before = engine.store.seq(), engine.audit(1)

    answers = {}
    for action in sorted(path for shown in PAGES for path in shown.actions):
        path = re.sub(r"\{\w+\}", "x", action)
        without = ask("POST", path, "csrf=&next=/", **form)[0]
        guessed = ask("POST", path, f"csrf={'x' * 43}&sure=1", **form)[0]
        got = ask("GET", f"{path}?csrf={cookie[1]}&sure=1", Cookie=cookie[0])[0]
        answers[action] = (without, guessed, got in (404, 405) or action in read)

    assert set(answers.values()) == {(403, 403, True)}
    assert (engine.store.seq(), engine.audit(1)) == before


def test_a_page_of_another_origin_can_neither_frame_nor_read_ours(new_page, site):
    page = new_page()
    page.goto("about:blank")
    with page.expect_event("framenavigated", lambda frame: frame.url.startswith("chrome-error:")):
        page.set_content(f'<iframe src="{site.address}/" name="ours"></iframe>')

    fetched = page.evaluate(
        "address => fetch(address, {credentials: 'include'}).then(() => 'read', () => 'refused')",
        site.address,
    )

    assert fetched == "refused"
