"""The write path, seen through the engine, with the real model."""

from dataclasses import replace

import pytest

from recollect import Engine
from recollect.embed.minilm import MiniLM
from recollect.embed.open import NoEmbedder
from recollect.errors import ContentRefused, EmbedderUnavailable, LimitReached, OutOfScope, UnknownName
from recollect.llm.protocol import StatementRelation
from recollect.model import INJECTED_MARK, Outcome, Scope, Source, Standing, State


@pytest.fixture(scope="module")
def model():
    return MiniLM()


@pytest.fixture
def open_engine(tmp_path, model):
    """Engines on one home; a folder a project."""
    opened = []

    def open_one(project="shop", **options):
        (tmp_path / project).mkdir(exist_ok=True)
        engine = Engine.open(tmp_path / project, tmp_path / "home", **{"embedder": model, **options})
        opened.append(engine)
        return engine

    yield open_one
    for engine in opened:
        engine.close()


@pytest.fixture
def engine(open_engine):
    return open_engine()


# contradictions


@pytest.mark.parametrize(
    "old, new",
    [
        ("Use tabs", "Use spaces"),
        ("port is 8080", "port is 9090"),
        ("never commit .env files", "always commit .env files"),
        ("Run scripts with npm", "Run scripts with pnpm"),
        (
            "The scheduler runs inside the web process.",
            "The scheduler no longer runs inside the web process.",
        ),
    ],
)
def test_a_newer_statement_supersedes_the_one_it_contradicts(engine, old, new):
    first = engine.remember(old)

    second = engine.remember(new)

    assert second.outcome is Outcome.SUPERSEDED
    assert second.supersedes == (first.id,)
    assert second.message == f"Updated: '{old}' → '{new}'"
    lost = engine.get(first.id)
    assert (lost.state, lost.superseded_by) == (State.SUPERSEDED, second.id)
    assert lost.valid_to is not None
    assert [memory.content for memory in engine.list()] == [new]
    assert [link.relation for link in engine.links(second.id)] == ["supersedes"]


@pytest.mark.parametrize(
    "one, other",
    [
        ("The search API runs on port 7700.", "The recommendation API runs on port 7800."),
        ("Staging keeps logs for 7 days.", "Production keeps logs for 90 days."),
    ],
)
def test_another_service_or_environment_is_another_matter(engine, one, other):
    engine.remember(one)

    receipt = engine.remember(other)

    assert receipt.outcome is Outcome.STORED
    assert len(engine.list()) == 2


UNSURE = ("The pipelines run on Jenkins.", "CI is GitHub Actions.")


def test_an_unsure_contradiction_keeps_both_links_them_and_asks(engine):
    old = engine.remember(UNSURE[0])

    new = engine.remember(UNSURE[1])

    assert (new.outcome, new.supersedes, new.conflicts_with) == (Outcome.CONFLICT, (), (old.id,))
    assert "may contradict" in new.message
    assert engine.get(old.id).state is State.ACTIVE
    ((link, _, _),) = engine.conflicts()
    assert (link.verdict, link.reason) == ("ambiguous", "Jenkins → github-actions (rule other value, unsure)")
    (question,) = engine.questions("contradiction")
    assert question.review.reason == link.reason
    assert [memory.id for memory in question.memories] == [new.id, old.id]


def test_what_is_said_again_does_not_settle_an_unsure_contradiction(engine):
    old, new = (engine.remember(text) for text in UNSURE)

    again = engine.remember(UNSURE[0])

    assert again.supersedes == ()
    assert {engine.get(each.id).state for each in (old, new)} == {State.ACTIVE}
    assert len(engine.questions("contradiction")) == 1


def test_a_correction_that_is_unsure_asks_too(engine):
    old = engine.remember(UNSURE[0])

    receipt = engine.remember(UNSURE[1], correction=True)

    assert receipt.conflicts_with == (old.id,)


def test_a_model_settles_what_the_rules_are_unsure_of(open_engine):
    engine = open_engine(sidecar=Judge(StatementRelation.CONTRADICTION))
    old = engine.remember(UNSURE[0])

    receipt = engine.remember(UNSURE[1])

    assert receipt.supersedes == (old.id,)
    assert engine.get(old.id).state_reason == "superseded: Jenkins → github-actions (model, certain)"


def test_a_less_trusted_newcomer_supersedes_nothing(open_engine):
    user, agent = open_engine(), open_engine(actor="agent:coder")
    stated = user.remember("Use tabs")

    receipt = agent.remember("Use spaces")

    assert receipt.outcome is Outcome.CONFLICT
    assert receipt.conflicts_with == (stated.id,)
    assert user.get(stated.id).state is State.ACTIVE
    ((link, one, other),) = user.conflicts()
    assert {one.content, other.content} == {"Use tabs", "Use spaces"}
    assert link.verdict in ("contradictory", "ambiguous")


def test_a_correction_wins_over_any_trust(open_engine):
    user = open_engine()
    first = user.remember("Use tabs", correction=True)

    receipt = user.remember("Use spaces", correction=True)

    assert receipt.supersedes == (first.id,)
    assert user.get(receipt.id).source is Source.USER_CORRECTED


def test_when_the_user_says_it_too_the_agents_memory_wins_its_conflict(open_engine):
    user, agent = open_engine(), open_engine(actor="agent:coder")
    stated = user.remember("Use tabs")
    observed = agent.remember("Use spaces")

    receipt = user.remember("Use spaces")

    assert receipt.outcome is Outcome.REINFORCED
    assert receipt.supersedes == (stated.id,)
    assert user.get(observed.id).trust == 0.9
    assert user.conflicts() == ()


@pytest.mark.parametrize(
    "keep, left", [("A", ["Use tabs"]), ("B", ["Use spaces"]), ("both", ["Use spaces", "Use tabs"])]
)
def test_resolve_settles_a_conflict(open_engine, keep, left):
    user, agent = open_engine(), open_engine(actor="agent:coder")
    a, b = user.remember("Use tabs"), agent.remember("Use spaces")

    user.resolve(a.id, b.id, keep)

    assert sorted(memory.content for memory in user.list()) == left
    assert user.conflicts() == ()
    assert all(diagnosis.ok for diagnosis in user.doctor())


@pytest.mark.parametrize("edited, are_open", [("The linter checks Go files", 0), ("Use spaces, please", 1)])
def test_an_edit_ends_the_conflicts_that_the_new_text_has_no_more(open_engine, edited, are_open):
    user, agent = open_engine(), open_engine(actor="agent:coder")
    user.remember("Use tabs")
    observed = agent.remember("Use spaces")

    agent.edit(observed.id, content=edited)

    assert len(user.conflicts()) == are_open


def test_a_conflict_that_somebody_linked_by_hand_survives_an_edit(engine):
    first, second = (engine.remember(text).id for text in ("Staging is in Dublin", "The office is closed"))
    engine.link(first, second, "contradicts")

    engine.edit(first, content="Staging is in Dublin, behind a proxy")

    assert len(engine.conflicts()) == 1


def test_what_takes_the_place_of_a_pinned_memory_is_pinned(engine):
    engine.pin(engine.remember("Use tabs").id)

    receipt = engine.remember("Use spaces")

    assert engine.get(receipt.id).standing is Standing.PINNED


def test_another_project_branch_or_season_contradicts_nothing(open_engine):
    here, there = open_engine("shop"), open_engine("bank")
    here.remember("Use tabs")

    receipts = [
        there.remember("Use spaces"),
        here.remember("Use spaces", branch="feature"),
        here.remember("Use spaces", season="release-week"),
        here.remember("Use spaces", scope="global"),
    ]

    assert {receipt.outcome for receipt in receipts} == {Outcome.STORED}


class Judge:
    """A language model by hand."""

    def __init__(self, answer):
        self.answer = answer
        self.asked = []

    def relate(self, new, old):
        self.asked.append((new, old))
        return self.answer


def test_a_sidecar_is_asked_only_where_the_rules_are_not_certain(open_engine):
    judge = Judge(StatementRelation.RELATED)
    engine = open_engine(sidecar=judge)
    engine.remember("Use tabs")
    engine.remember("The cache survives restarts.")

    receipt = engine.remember("The cache does not survive restarts.")

    assert receipt.outcome is Outcome.SUPERSEDED
    assert judge.asked == []


# duplicates


def test_the_same_words_again_make_it_stronger(engine):
    first = engine.remember("Run the tests with  make test")

    again = engine.remember("run the tests WITH make test", session="later", tags=("ci",))

    assert (again.id, again.outcome, again.is_duplicate) == (first.id, Outcome.REINFORCED, True)
    memory = engine.get(first.id)
    assert (memory.strength, memory.access_count) == (2, 0)
    assert memory.importance == pytest.approx(0.6)
    assert memory.reinforcements[0].session == "later"
    assert "ci" in memory.tags


def test_importance_stops_at_one_and_breadcrumbs_at_fifty(engine):
    for _ in range(60):
        receipt = engine.remember("Run the tests with make test")

    memory = engine.get(receipt.id)
    assert (memory.strength, memory.importance, len(memory.reinforcements)) == (60, 1.0, 50)


def test_the_same_in_other_words_is_merged_and_the_richer_text_kept(engine):
    first = engine.remember("Build the docs with mkdocs")

    receipt = engine.remember("Documentation is built by running mkdocs build")
    memory = engine.get(first.id)

    assert receipt.id == first.id
    assert receipt.is_duplicate
    assert memory.content == "Documentation is built by running mkdocs build"
    assert memory.reinforcements[-1].said == "Build the docs with mkdocs"
    assert engine.search("documentation").results[0].why["channels"]["words"]


def test_hearing_an_archived_memory_again_brings_it_back(engine):
    receipt = engine.remember("Redis must be running for the tests")
    old = engine.get(receipt.id)
    engine.store.put(replace(old, state=State.ARCHIVED, state_reason="unused"))

    engine.remember("Redis must be running for the tests")

    assert engine.get(receipt.id).state is State.ACTIVE


def test_a_statement_that_was_superseded_can_win_again(engine):
    for text in ("Use tabs", "Use spaces", "Use tabs"):
        receipt = engine.remember(text)

    assert receipt.outcome is Outcome.SUPERSEDED
    assert [memory.content for memory in engine.list()] == ["Use tabs"]


# what may be written


def test_an_agent_has_its_share_of_memories_per_session(open_engine):
    engine = open_engine(actor="agent:coder", embedder=NoEmbedder())
    for number in range(50):
        engine.remember(f"Module number {number} is documented in chapter {number}", session="s1")

    with pytest.raises(LimitReached, match="50"):
        engine.remember("One more thing worth knowing", session="s1")

    assert engine.remember("One more thing worth knowing", session="s2").outcome is Outcome.STORED
    assert open_engine(embedder=NoEmbedder()).remember("A person may go on", session="s1")


def test_an_agent_writes_only_to_its_own_project(open_engine):
    engine = open_engine(actor="agent:coder")

    with pytest.raises(OutOfScope):
        engine.remember("Everyone should know this", scope="global")
    with pytest.raises(OutOfScope):
        engine.remember("They should know this", project_id="p0123456789abcde")

    assert engine.list(state="all") == ()


def test_an_agent_cannot_claim_to_be_a_person(open_engine):
    engine = open_engine(actor="agent:coder")

    receipt = engine.remember("The user loves tabs", source="user_corrected")

    assert engine.get(receipt.id).source is Source.OBSERVED


@pytest.mark.parametrize(
    "content", ["", "   \n\t ", "x" * 2049, "é" * 1025, "nul \x00 inside", "lone \ud800 surrogate", 7, None]
)
def test_what_is_no_statement_is_refused(engine, content):
    with pytest.raises(ContentRefused) as refusal:
        engine.remember(content)

    assert refusal.value.hint
    assert engine.list(state="all") == ()


def test_two_kilobytes_are_kept_whole(engine):
    text = "ab " * 682 + "ab"

    receipt = engine.remember(text)

    assert engine.get(receipt.id).content == text


def test_a_secret_is_taken_out_of_every_field(engine, tmp_path):
    secret = "ghp_" + "Zx9Qw8Er7Ty6Ui5Op4As3Df2Gh1Jk0Lz9XcV"

    receipt = engine.remember(
        f"The token is {secret}",
        tags=(f"tag {secret}",),
        file_paths=(f"keys/{secret}.txt",),
        triggers=(secret,),
        steps=(f"export TOKEN={secret}",),
        warnings=(f"do not print {secret}",),
        season=secret,
        branch=secret,
        session=secret,
        snippet=secret,
    )
    engine.backup()
    engine.close()

    assert len(receipt.redactions) >= 10
    for file in (tmp_path / "home").rglob("*"):
        if file.is_file():
            assert secret[4:20].encode() not in file.read_bytes(), file


def test_redaction_is_logged_without_the_secret(engine):
    receipt = engine.remember("password = " + "hunter2-correct-horse")

    lines = engine.audit(name=receipt.id)

    assert [line.action for line in lines] == ["add", "redact"]
    assert "hunter2" not in repr(lines)


def test_what_recollect_injected_is_not_learnt_again(engine):
    with pytest.raises(ContentRefused, match="Recollect itself"):
        engine.remember(f"<project_memory source='{INJECTED_MARK}'>Use tabs</project_memory>")


@pytest.mark.parametrize(
    "path", [".env", "config/.env.production", "secrets/key.txt", "build/out.log", "deep/local.cfg"]
)
def test_content_of_an_ignored_file_is_refused(engine, tmp_path, path):
    (tmp_path / "shop" / ".gitignore").write_text("build/\n*.pyc\n")
    (tmp_path / "shop" / ".secretsignore").write_text("secrets/*\n")
    (tmp_path / "shop" / "deep").mkdir()
    (tmp_path / "shop" / "deep" / ".gitignore").write_text("local.cfg\n")

    with pytest.raises(ContentRefused, match="private"):
        engine.remember("What the file says", file_paths=(path,))

    assert engine.remember("What another says", file_paths=("src/main.py",))


def test_a_deeper_ignore_file_may_let_in_what_a_higher_one_keeps_out(engine, tmp_path):
    shop = tmp_path / "shop"
    (shop / "deep").mkdir()
    (shop / ".gitignore").write_text("*.cfg\nbuild/\n")
    (shop / "deep" / ".gitignore").write_text("!kept.cfg\n!build/\n")

    assert engine.remember("What the file says", file_paths=("deep/kept.cfg",))

    for path in ("kept.cfg", "deep/other.cfg", "build/deep/kept.cfg"):
        with pytest.raises(ContentRefused, match=r"private by .*\.gitignore"):
            engine.remember("What another says", file_paths=(path,))


def test_an_unknown_kind_is_refused_with_the_nearest_name(engine):
    with pytest.raises(UnknownName) as refusal:
        engine.remember("Watch out", kind="gotchas")

    assert "gotcha" in refusal.value.hint


@pytest.mark.parametrize("importance", [-0.1, 1.1, float("nan"), float("inf")])
def test_importance_out_of_range_is_refused(engine, importance):
    with pytest.raises(ContentRefused):
        engine.remember("Something", importance=importance)


# defaults


def test_who_writes_decides_trust_visibility_and_source(open_engine):
    user, agent = open_engine(), open_engine(actor="agent:coder")

    stated = user.get(user.remember("Carts are kept a day").id)
    corrected = user.get(user.remember("Orders are never deleted", kind="correction").id)
    observed = agent.get(agent.remember("Mail is sent by a worker").id)
    inferred = agent.get(agent.remember("Invoices may be numbered by year", source="inferred").id)

    assert [each.trust for each in (stated, corrected, observed, inferred)] == [0.9, 1.0, 0.7, 0.5]
    assert (stated.visibility, observed.visibility) == ("private", "project")
    assert (stated.created_by, observed.created_by) == ("user", "agent:coder")


def test_steps_make_it_a_procedure(engine):
    receipt = engine.remember(
        "Release a new version",
        steps=("tag it", "push it"),
        triggers=("release",),
        prerequisites=("be on main",),
    )

    memory = engine.get(receipt.id)

    assert memory.kind == "procedure"
    assert memory.procedure.steps == ("tag it", "push it")
    assert memory.procedure.trigger == "release"


def test_a_long_statement_gets_a_summary_of_25_to_35_tokens(engine):
    from recollect.text import tokens

    receipt = engine.remember(
        "The importer reads every file of the drop folder in the order of its name. It skips what it has seen before,"
        " by hash. Files above ten megabytes are split first, because the parser keeps them in memory as a whole and"
        " the container has only 512 MB. See docs/importer.md for the history of this decision."
    )

    assert 25 <= tokens.count(engine.get(receipt.id).summary) <= 35


def test_tags_are_inferred_from_files_and_names(engine):
    receipt = engine.remember(
        "Postgres migrations run before the deploy", file_paths=("db/migrate.py",), tags=("Ops Stuff",)
    )

    assert engine.get(receipt.id).tags[0] == "ops-stuff"
    assert {"python", "postgres"} <= set(engine.get(receipt.id).tags)


def test_near_statements_are_linked(engine):
    engine.remember("The cache of product pages lives in Redis")

    receipt = engine.remember("Redis holds the product pages' cache and the locks of the importer")

    assert "relates_to" in {link.relation for link in engine.links(receipt.id)}


def test_a_session_memory_is_seen_in_its_session_only(engine):
    engine.remember("Working on the auth refactor", scope="session", session="s1")

    assert engine.list() == ()
    assert [memory.scope for memory in engine.list(session="s1")] == [Scope.SESSION]


# without vectors


def test_without_a_model_writing_and_word_search_go_on_and_vectors_come_later(open_engine):
    poor = open_engine(embedder=NoEmbedder(EmbedderUnavailable("The model is broken.")))
    first = poor.remember("The scheduler holds an advisory lock")
    found = poor.search("advisory lock")

    rich = open_engine()
    missing = rich.care.count_missing()
    rich.remember("Something else altogether, about mail")

    assert "without a vector" in first.notes[0]
    assert [hit.memory.id for hit in found.results] == [first.id]
    assert found.partial
    assert missing == 1
    assert rich.care.count_missing() == 0


def test_who_turned_vectors_off_is_not_told_so_again_and_again(open_engine):
    engine = open_engine(embedder=NoEmbedder())

    receipt = engine.remember("The scheduler holds an advisory lock")

    assert receipt.notes == ()
    assert not engine.search("advisory lock").partial


def test_contradictions_are_found_without_vectors_too(open_engine):
    engine = open_engine(embedder=NoEmbedder())
    engine.remember("Use tabs")

    assert engine.remember("Use spaces").outcome is Outcome.SUPERSEDED


# editing


def test_editing_the_text_renews_all_that_hangs_on_it(engine):
    receipt = engine.remember("The port is 8080")

    memory, _ = engine.edit(receipt.id, content="Uploads are scanned for viruses")

    assert engine.search("virus scan").results[0].memory.id == memory.id
    assert engine.search("port 8080").results == () or engine.search("port 8080").results[0].score < 0.5
    assert all(diagnosis.ok for diagnosis in engine.doctor())


def test_an_edit_cannot_bring_in_a_secret_or_a_twin(engine):
    one, other = engine.remember("Use pnpm"), engine.remember("Mail is sent by a worker")

    edited, receipt = engine.edit(other.id, content="The password is " + "hunter2-correct-horse")
    with pytest.raises(ContentRefused, match=one.id):
        engine.edit(other.id, content="use PNPM")

    assert "hunter2" not in edited.content
    assert receipt.redactions


def test_an_edit_without_a_model_leaves_no_vector_of_the_old_text(open_engine):
    rich = open_engine()
    receipt = rich.remember("The port is 8080")
    rich.search("port")
    poor = open_engine(embedder=NoEmbedder(EmbedderUnavailable("The model is broken.")))

    poor.edit(receipt.id, content="Uploads are scanned for viruses")

    assert rich.care.count_missing() == 1
    assert rich.search("which port").results == ()
    rich.embed_missing()
    assert rich.search("malware check of files").results[0].memory.id == receipt.id


def test_a_less_trusted_paraphrase_does_not_replace_the_users_words(open_engine):
    user, agent = open_engine(), open_engine(actor="agent:coder")
    receipt = user.remember("Build the docs with mkdocs")

    agent.remember("Documentation is built by running mkdocs build")

    assert user.get(receipt.id).content == "Build the docs with mkdocs"
    assert user.get(receipt.id).reinforcements[-1].said.startswith("Documentation")


def test_superseding_ends_the_losers_open_conflicts(open_engine):
    user, agent = open_engine(), open_engine(actor="agent:coder")
    user.remember("Use tabs")
    agent.remember("Use spaces")

    user.remember("Use spaces")

    assert user.conflicts() == ()
