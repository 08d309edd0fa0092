import json
import random
import re
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_render import ATTACKS, NOW, TEXTS, hidden, hits, memory

import recollect.model as m
from recollect.code.modules.module_map import ModuleCard
from recollect.code.relevant.evidence import FileToShow
from recollect.errors import UnknownName
from recollect.kinds import KINDS
from recollect.memory.briefing import briefing as briefings
from recollect.memory.briefing.briefing import MOST_ALWAYS, BriefingContent, ProjectCard
from recollect.memory.briefing.budget import SHARES, allocate
from recollect.text import tokens
from recollect.work.hosts.registry import BRIEFING_FORMATS as HOSTS
from recollect.work.hosts.registry import briefing_format

DOCS = Path(__file__).parents[3] / "docs"
PLENTY = allocate(100_000)
TIERS = ("always", "map", "files", "fixes", "bridge", "task", "summaries")


def compose(material, allocation, host):
    return briefings.compose(material, allocation, briefing_format(host), host=host)


def shown(briefing):
    """The ids of the memories shown by themselves, in order."""
    return tuple(
        item.key for item in briefing.shown if " " not in item.key and item.tier not in ("map", "conflict")
    )


def finding(text, **fields):
    values = {"id": m.new_id(NOW), "session": "s1", "kind": "discovery", "created_at": NOW}
    return m.Finding(content=text, fingerprint=m.fingerprint(text), **{**values, **fields})


def session(summary, **fields):
    return m.Session(
        **{
            "id": "s1",
            "user_id": "ada",
            "project_id": "shop",
            "started_at": NOW,
            "summary": summary,
            **fields,
        }
    )


def conflict(one, other, **fields):
    return m.Link(one.id, other.id, m.Relation.CONTRADICTS, NOW, **fields), one, other


def example():
    """The material of the examples in docs/briefing.md."""
    jwt = memory(
        "JWT over session cookies: API first, 24 h expiry, 1 h refresh window",
        id="1m7geq8h9q82nvh933",
        kind="decision",
        file_paths=("auth/config.ts",),
    )
    redis = memory(id="1m7geq9xqd82w7c0qr", file_paths=("middleware/auth.ts",))
    mutex = memory(
        "Tabs race to refresh the token; a mutex fixed it in v2.3",
        id="1m7geqb34817zjjn7e",
        kind="error_pattern",
        source=m.Source.OBSERVED,
        file_paths=("stores/auth-store.ts", "stores/tabs.ts"),
    )
    expiry = memory("Access tokens expire after 5 minutes", id="1m7geqcta8qtbe1s9v", kind="fact")
    longer = memory("Access tokens expire after 24 hours", id="1m7geqeg7amzn32t2y", kind="fact")
    release = memory(
        "How to release",
        id="1m7geqf2p0c4v8k3xw",
        kind="procedure",
        procedure=m.Procedure("How to release", "", ("make test", "git tag", "make publish")),
    )
    return BriefingContent(
        always=(
            memory(
                "Never log a token, not even its prefix",
                id="1m7geq7y0r5hd2m6zs",
                kind="negative",
                standing=m.Standing.PINNED,
            ),
            jwt,
        ),
        project=ProjectCard(
            "shop", ("Modules: authentication, checkout", "Build: make", "Test: make test", "Lint: make lint")
        ),
        files=(FileToShow("middleware/auth.ts", ("refresh", "validate"), ("tests/auth/refresh.test.ts",)),),
        modules=(
            ModuleCard(
                "authentication",
                files=("auth/config.ts", "middleware/auth.ts", "routes/auth.ts"),
                tests=("tests/auth/",),
                deps=("jsonwebtoken", "redis"),
            ),
        ),
        bridge=(finding("The session store moved to Redis 7", file_paths=("infra/redis.tf",)),),
        task=tuple(hits(redis, mutex, expiry, release)),
        summaries=(
            session("- Refresh tokens get their own lifetime\n- The mutex of v2.3 stays", agent="coder"),
        ),
        conflicts=(conflict(expiry, longer),),
        stale=frozenset({mutex.id}),
    )


@pytest.mark.parametrize("host", ["claude-code", "codex", "gemini", "json"])
def test_the_examples_in_the_docs_are_what_the_code_makes(host):
    page = (DOCS / "briefing.md").read_text()

    text = compose(example(), PLENTY, host).text

    assert f"\n{text}\n" in page


def test_tiers_come_in_order_and_each_reads_as_it_should():
    text = compose(example(), PLENTY, "codex").text

    heads = re.findall(r"^(?:[A-Z][^\[\n]*:|\[[A-Z]+\].*)$", text, re.MULTILINE)
    assert heads == [
        "Rules:",
        "[NEVER] #d2m6zs ! Never log a token, not even its prefix",
        "[DECISION] auth/config.ts #nvh933 ! JWT over session cookies: API first, 24 h expiry, 1 h refresh window",
        "Project:",
        "[PROJECT] shop",
        "[MODULE] authentication",
        "Files to look at first:",
        "[FILE] middleware/auth.ts",
        "Other sessions at work:",
        "[DISCOVERY] infra/redis.tf (unconfirmed)",
        "For this task:",
        "[GOTCHA] middleware/auth.ts #w7c0qr",
        "[ERROR] stores/auth-store.ts +1 #zjjn7e (observed, stale)",
        "[PROCEDURE] #v8k3xw",
        "[FACT] #be1s9v (in conflict)",
        "Recent sessions:",
        "[SESSION] 2026-01-01 coder",
    ]
    assert (
        "Files: auth/config.ts, middleware/auth.ts, routes/auth.ts | Tests: tests/auth/ | Deps: jsonwebtoken, redis\n"
        in text
    )
    assert "Steps: 1. make test 2. git tag 3. make publish\n" in text


def test_a_conflict_stands_right_below_its_memory():
    text = compose(example(), PLENTY, "codex").text

    assert (
        "[FACT] #be1s9v (in conflict)\n! Access tokens expire after 5 minutes\n"
        '[⚠ CONFLICT] #be1s9v says "Access tokens expire after 5 minutes" but #n32t2y says '
        '"Access tokens expire after 24 hours". Verify which is current.\n'
    ) in text


def test_a_conflict_is_told_once_and_counted_when_both_sides_are_shown():
    one, other = memory("Use tabs"), memory("Use spaces")

    briefing = compose(
        BriefingContent(task=tuple(hits(one, other)), conflicts=(conflict(other, one),)), PLENTY, "codex"
    )

    assert briefing.text.count("CONFLICT") == briefing.conflicts == 1
    assert briefing.text.count("(in conflict)") == 2


def test_a_settled_conflict_is_no_news():
    one, other = memory("Use tabs"), memory("Use spaces")
    settled = conflict(one, other, resolved_at=NOW)

    assert (
        "onflict"
        not in compose(BriefingContent(task=tuple(hits(one)), conflicts=(settled,)), PLENTY, "codex").text
    )


def test_many_conflicts_do_not_push_a_pinned_memory_out():
    pinned = memory("The port is 7533; " + "it has been so since the very first release of the daemon, " * 2)
    claims = [
        memory(f"The port is {port}; " + "as everyone who has ever deployed it can tell you, " * 3)
        for port in range(20)
    ]
    material = BriefingContent(always=(pinned,), conflicts=tuple(conflict(pinned, claim) for claim in claims))

    briefing = compose(material, allocate(20_000), "claude-code")

    assert shown(briefing) == (pinned.id,)
    assert briefing.conflicts == 2


def test_a_memory_shown_as_pinned_is_not_repeated_for_the_task():
    one, other = memory("One", standing=m.Standing.PINNED), memory("Two")

    briefing = compose(BriefingContent(always=(one, one), task=tuple(hits(one, other))), PLENTY, "gemini")

    assert shown(briefing) == (one.id, other.id)
    assert briefing.text.count("! One") == 1


def test_rules_take_at_most_eight_lines():
    rules = tuple(memory(f"Rule number {number}") for number in range(12))
    disputed = conflict(rules[0], memory("Rule number zero is wrong"))

    briefing = compose(BriefingContent(always=rules, conflicts=(disputed,)), PLENTY, "claude-code")

    told = briefing.text.partition("<always>\n")[2].partition("</always>")[0]
    assert len(told.splitlines()) == MOST_ALWAYS == 8
    assert len(shown(briefing)) == 7


def test_what_was_told_is_left_out():
    one, other = memory("One"), memory("Two")
    content = BriefingContent(
        task=tuple(hits(one, other)), files=(FileToShow("a.py", (), ()), FileToShow("b.py", (), ()))
    )

    briefing = briefings.compose(content, PLENTY, "plain", told={one.id, "file a.py"})

    assert [item.key for item in briefing.shown] == ["file b.py", other.id]


def test_the_other_side_of_a_conflict_counts_as_shown():
    one, other = memory("Use tabs"), memory("Use spaces")

    briefing = compose(
        BriefingContent(task=tuple(hits(one)), conflicts=(conflict(one, other),)), PLENTY, "codex"
    )

    assert [(item.key, item.tier) for item in briefing.shown] == [(one.id, "task"), (other.id, "conflict")]


def test_a_finding_that_a_memory_already_says_is_no_news():
    known = memory("The session store moved to Redis 7")

    briefing = compose(
        BriefingContent(task=tuple(hits(known)), bridge=(finding("the session store moved to redis 7"),)),
        PLENTY,
        "codex",
    )

    assert "bridge" not in briefing.by_tier


def test_pinned_memories_stand_before_weightier_ones_that_are_not():
    pinned, rule = memory("Pinned", kind="fact", standing=m.Standing.PINNED), memory("Rule", kind="decision")

    assert shown(compose(BriefingContent((rule, pinned)), PLENTY, "codex")) == (pinned.id, rule.id)


def test_heavier_kinds_stand_first_and_then_the_older():
    fact, gotcha, later = memory("A", kind="fact"), memory("B", kind="gotcha"), memory("C", kind="fact")

    briefing = compose(BriefingContent(task=tuple(hits(later, fact, gotcha))), PLENTY, "codex")

    assert shown(briefing) == (gotcha.id, fact.id, later.id)


def test_what_does_not_fit_is_left_out_whole_and_what_is_shorter_may_follow():
    long = memory("word " * 30, procedure=m.Procedure("x", "", ("step " * 90,)))
    short = memory("Short")
    room = replace(allocate(0), total=60, task=60)

    briefing = compose(BriefingContent(task=tuple(hits(long, short))), room, "codex")

    assert shown(briefing) == (short.id,)


def test_without_findings_the_bridge_share_serves_the_task():
    task = tuple(
        hits(*(memory(f"Statement number {number} about the billing export") for number in range(60)))
    )
    bridge = tuple(finding(f"Finding number {number} about the billing export") for number in range(60))

    alone = compose(BriefingContent(task=task), allocate(8000), "codex")
    beside = compose(BriefingContent(task=task, bridge=bridge), allocate(8000), "codex")

    assert 500 < alone.by_tier["task"] <= 640
    assert "task" in beside.by_tier  # what no pinned memory needed
    assert beside.by_tier["bridge"] <= 440


def test_a_session_shows_its_date_and_up_to_five_bullets():
    told = session(
        "* one\n\n• two\n- three\nfour\n- five\n- six", host="codex", ended_at=NOW + timedelta(days=2)
    )

    text = compose(BriefingContent(summaries=(told, session(" \n"))), PLENTY, "codex").text

    assert "[SESSION] 2026-01-03 codex\n- one\n- two\n- three\n- four\n- five\n---" in text


@pytest.mark.parametrize(
    "content",
    [
        lambda learnt: BriefingContent(summaries=(session(f"- {learnt}"),)),
        lambda learnt: BriefingContent(bridge=(finding(learnt, kind="error_pattern"),)),
    ],
)
def test_what_a_session_learnt_from_a_failure_is_told_with_what_helped(content):
    learnt = (
        "`./check.sh` failed: “RuntimeError: SPATIALITE is not set, cannot load the extension mod_spatialite from the"
        " system's folder of libraries”. What worked: the same with `SPATIALITE=/usr/lib/mod_spatialite.so`."
    )

    assert learnt in compose(content(learnt), PLENTY, "codex").text


def test_a_large_module_names_its_first_files_and_counts_the_rest():
    card = ModuleCard("web", files=tuple(f"f{number}.ts" for number in range(40)))

    text = compose(BriefingContent(modules=(card, ModuleCard("empty"))), PLENTY, "codex").text

    assert "Files: f0.ts, f1.ts, f2.ts, f3.ts, f4.ts, f5.ts, f6.ts, f7.ts, +32\n" in text
    assert "empty" not in text


@pytest.mark.parametrize("host", HOSTS)
@pytest.mark.parametrize(
    ("material", "remaining"),
    [(BriefingContent(), 100_000), (example(), 0), (example(), -7), (example(), 100)],
)
def test_nothing_to_say_or_no_room_is_an_empty_text(host, material, remaining):
    briefing = compose(material, allocate(remaining), host)

    assert (briefing.text, briefing.tokens, briefing.by_tier, briefing.shown) == ("", 0, {}, ())


def test_an_unknown_host_is_refused_even_when_there_is_nothing_to_say():
    with pytest.raises(UnknownName):
        compose(BriefingContent(), allocate(0), "emacs")


@st.composite
def materials(draw):
    """Up to 200 entries of every sort, with texts that want to get out."""
    rng = random.Random(draw(st.integers()))
    texts = [
        *draw(st.lists(TEXTS, max_size=6)),
        *ATTACKS,
        "Use pnpm, never npm.",
        "A longer statement, " * 12,
    ]

    def some(most):
        return range(rng.randrange(most))

    def words():
        return (
            rng.choice(texts)
            if rng.random() < 0.5
            else f"Module x{rng.getrandbits(32):08x} feeds y{rng.random()}."
        )

    def many():
        return tuple(words() for _ in some(4))

    pool = [
        memory(
            words(),
            kind=rng.choice(list(KINDS)),
            file_paths=many(),
            source=rng.choice(list(m.Source)),
            standing=rng.choice(list(m.Standing)),
            importance=rng.random(),
            procedure=m.Procedure(words(), words(), many(), many(), many()) if rng.random() < 0.2 else None,
        )
        for _ in range(rng.randrange(1, 60))
    ]

    def memories(most):
        return tuple(rng.choice(pool) for _ in some(most))

    return BriefingContent(
        always=memories(30),
        files=tuple(FileToShow(words(), many(), many()) for _ in some(8)),
        fixes=many(),
        modules=tuple(ModuleCard(words(), many(), many(), many()) for _ in some(20)),
        bridge=tuple(finding(words(), kind=rng.choice(list(KINDS)), file_paths=many()) for _ in some(40)),
        task=tuple(hits(*memories(60))),
        summaries=tuple(session("\n".join(many()), id=str(number), agent=words()) for number in some(40)),
        conflicts=tuple(conflict(rng.choice(pool), rng.choice(pool)) for _ in some(10)),
        stale=frozenset(each.id for each in memories(9)),
    )


REMAINING = st.one_of(st.sampled_from([100_000, 50_000, 20_000, 8_000, 2_000, 0]), st.integers(-10, 120_000))


@settings(max_examples=150)
@given(materials(), REMAINING, st.integers(0, 6000), st.sampled_from(list(HOSTS)))
def test_the_budget_is_never_exceeded(material, remaining, ceiling, host):
    budget = allocate(remaining, ceiling)

    briefing = compose(material, budget, host)

    used = {"frame": 0, **dict.fromkeys(TIERS, 0), **briefing.by_tier}
    assert briefing.tokens == tokens.count(briefing.text) == sum(used.values())
    assert briefing.tokens <= budget.total
    assert used["always"] <= budget.always
    assert used["map"] <= budget.map
    assert used["bridge"] <= budget.bridge
    assert used["summaries"] <= budget.summaries
    assert used["files"] <= budget.files
    assert used["map"] + used["files"] + used["task"] <= SHARES["task"].most
    assert sum(used[tier] for tier in TIERS[:-1]) <= budget.always + budget.bridge + budget.task


@settings(max_examples=100)
@given(materials(), REMAINING, st.sampled_from(list(HOSTS)))
def test_each_memory_is_shown_once_inside_a_fence_nothing_gets_out_of(material, remaining, host):
    briefing = compose(material, allocate(remaining), host)

    assert len({item.key for item in briefing.shown}) == len(briefing.shown)
    assert set(shown(briefing)) <= {each.id for each in material.memories}
    assert hidden(briefing.text) == set()
    assert bool(briefing.text) == (m.INJECTED_MARK in briefing.text)
    if host == "json" and briefing.text:
        told = json.loads(briefing.text)
        assert list(told)[2:] == [tier for tier in TIERS if tier in briefing.by_tier]
    if host == "claude-code" and briefing.text:
        root = ElementTree.fromstring(briefing.text)
        assert [child.tag for child in root.iter()][1:] == [
            tier for tier in TIERS if tier in briefing.by_tier
        ]


@settings(max_examples=50)
@given(materials(), REMAINING, st.sampled_from(list(HOSTS)), st.randoms())
def test_the_same_material_makes_the_same_bytes_in_whatever_order_it_comes(material, remaining, host, rng):
    budget = allocate(remaining)
    unranked = ("bridge", "conflicts")
    shuffled = {name: rng.sample(getattr(material, name), len(getattr(material, name))) for name in unranked}

    again = replace(material, **{name: tuple(each) for name, each in shuffled.items()})

    assert compose(again, budget, host) == compose(material, budget, host)
