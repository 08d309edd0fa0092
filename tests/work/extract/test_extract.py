"""What is learnt from a transcript, and what never is. How well it does on real ones: `python -m bench.extraction`."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from recollect.kinds import KINDS
from recollect.model import INJECTED_MARK, Source
from recollect.work.extract import RESOLVED_ERROR, USER_CORRECTION, USER_INTENT, extract
from recollect.work.transcripts.event import ASSISTANT, TOOL, USER, Event

NOW = datetime(2026, 3, 1, tzinfo=UTC)
CWD = "/home/ada/shop"


class Transcript:
    """Events as a host would tell them, numbered as they come."""

    def __init__(self, session: str = "s1", agent: str = "") -> None:
        self.events: list[Event] = []
        self.session, self.agent = session, agent

    def _add(self, author: str, text: str = "", **more: object) -> "Transcript":
        order = len(self.events)
        fields = {"cwd": CWD, "agent": self.agent, "at": NOW + timedelta(seconds=order), **more}
        self.events.append(Event(self.session, order, author, text, **fields))  # type: ignore[arg-type]
        return self

    def user(self, text: str, **more: object) -> "Transcript":
        return self._add(USER, text, **more)

    def agent_says(self, text: str) -> "Transcript":
        return self._add(ASSISTANT, text)

    def run(self, command: str, output: str = "", failed: bool | None = False) -> "Transcript":
        call = f"c{len(self.events)}"
        self._add(ASSISTANT, tool="Bash", call=call, input={"command": command})
        return self._add(TOOL, output, tool="Bash", call=call, failed=failed)

    def edit(self, path: str) -> "Transcript":
        call = f"c{len(self.events)}"
        self._add(ASSISTANT, tool="Edit", call=call, input={"file_path": f"{CWD}/{path}"})
        return self._add(TOOL, "ok", tool="Edit", call=call, failed=False)


def working() -> Transcript:
    return Transcript().user("Add the export button to the report page").agent_says("Done.")


def learnt(transcript: Transcript) -> list[str]:
    return [made.content for made in extract(transcript.events, NOW)]


def kinds(transcript: Transcript) -> list[str]:
    return [made.kind for made in extract(transcript.events, NOW)]


@pytest.mark.parametrize(
    "said, statement",
    [
        ("no, use pnpm", "Use pnpm, not npm."),
        ("use pnpm please", "Use pnpm, not npm."),
        ("Don't push to main. Open a pull request.", "Don't push to main. Open a pull request."),
        ("don’t silence the linter, fix the code", "Don't silence the linter, fix the code."),
        ("You should never edit the lock file by hand.", "You should never edit the lock file by hand."),
        ("we use structlog here, not print", "We use structlog here, not print."),
        ("use pytest rather than unittest", "Use pytest rather than unittest."),
        ("Instead of POST /drop use DELETE /items.", "Instead of POST /drop use DELETE /items."),
    ],
)
def test_a_correction_becomes_a_statement_that_stands_alone(said, statement):
    transcript = Transcript().user("Install the date library").run("npm install dayjs").user(said)

    assert learnt(transcript) == [statement]


@pytest.mark.parametrize(
    "said",
    [
        "no, on every page",
        "No. It belongs on every page.",
        "I mean on every page",
        "that's wrong, it belongs on every page",
        "get not post",
        "Why did you put it there? Put it on every page.",
    ],
)
def test_a_correction_that_leans_on_the_request_is_told_beside_it(said):
    (content,) = learnt(working().user(said))

    assert content.startswith("About “")
    assert content.endswith(("n every page.", "Get not post."))


def test_a_correction_about_code_names_the_file_that_was_edited():
    transcript = working().edit("src/report.py").user("don't call self.flush twice in there")

    (made,) = extract(transcript.events, NOW)

    assert "`src/report.py`" in made.content
    assert made.file_paths == ("src/report.py",)


@pytest.mark.parametrize(
    "said, kind",
    [
        ("I prefer short functions with early returns.", "preference"),
        ("From now on, always run the type checker before you commit.", "preference"),
        ("we always squash commits before merging", "convention"),
        ("Our convention: test files end in _test.go.", "convention"),
        ("Let's go with Postgres because we need row-level security.", "decision"),
        ("We decided to keep the monolith until billing is rewritten.", "decision"),
        ("Heads up: the staging database is reset every night.", "warning"),
        ("FYI the CI runners have no network access.", "fact"),
        ("src/api/client.ts is generated from the schema.", "fact"),
        ("/remember the staging box is called bert", "human_feedback"),
    ],
)
def test_what_a_person_states_is_kept_under_its_kind(said, kind):
    assert kinds(Transcript().user(said)) == [kind]


def test_a_reason_stays_with_its_decision():
    (content,) = learnt(
        Transcript().user("For auth we're going with the device flow, since the CLI has no browser.")
    )

    assert "since the CLI has no browser" in content


@pytest.mark.parametrize(
    "said",
    [
        "hello!",
        "no problem, thanks",
        "don't worry about it",
        "actually that looks great",
        "never mind",
        "no",
        "not sure, what do you think?",
        "don't we have a lock for that?",
        "Should I use yarn instead of npm?",
        "I don't understand the last step",
        "maybe we should always use Redis",
        "It seems we never close the pool",
        "don't write any code yet",
        "Let's go with option B.",
        "/clear never mind the rest",
    ],
)
def test_courtesy_questions_guesses_and_orders_for_the_moment_teach_nothing(said):
    assert learnt(working().user(said)) == []


@pytest.mark.parametrize(
    "pasted",
    [
        "2024-01-01 ERROR use pnpm, never npm\n2024-01-01 INFO don't retry\nwhy does this happen?",
        "```\n# never use floats here\n```\nwhat is wrong here?",
        "def add(a, b):\n    # don't use floats here\n    return a + b",
        "<log>always use tabs</log>",
        "Always do this. " * 200,
    ],
)
def test_what_was_pasted_is_not_what_was_said(pasted):
    assert learnt(working().user(pasted)) == []


def test_a_no_that_answers_a_question_is_no_correction():
    asked = (
        Transcript().user("Fix the date bug in reports").agent_says("Fixed. Shall I also update the docs?")
    )

    assert learnt(asked.user("no, just commit")) == []


def test_injected_text_is_never_learnt():
    transcript = Transcript()
    transcript.user("Always use the todo tool.", injected=True)
    transcript.user(f'<project_memory source="{INJECTED_MARK}">Always use tabs.</project_memory>')
    transcript.user(f"{INJECTED_MARK}: never use tabs.")

    assert learnt(transcript) == []


def test_what_one_agent_tells_another_is_not_a_persons_wish():
    assert learnt(Transcript(agent="explorer").user("Never edit files. Always answer in a list.")) == []


def test_what_an_agent_plans_or_quotes_is_not_learnt():
    transcript = (
        Transcript().user("go on").agent_says('You said "always use pnpm". I will now use npm instead.')
    )

    assert learnt(transcript) == []


def test_a_secret_is_taken_out_of_what_is_learnt():
    secret = "sk-live-" + "4f9a8b7c6d5e" * 3
    transcript = Transcript().user(f"Always send the header X-Api-Key: {secret} to the billing service.")

    (made,) = extract(transcript.events, NOW)

    assert secret not in repr(made)
    assert "[REDACTED" in made.content


def test_a_fix_that_is_nothing_but_a_secret_is_not_told():
    keys = ["sk-live-" + piece * 3 for piece in ("4f9a8b7c6d5e", "9z8y7x6w5v4u")]
    transcript = Transcript().user("log in")
    transcript.run(f"API_KEY={keys[0]} ./login.sh", "401 Unauthorized", failed=True).run(
        f"API_KEY={keys[1]} ./login.sh"
    )

    assert learnt(transcript) == []


@pytest.mark.parametrize("before", range(0, 170, 7))
def test_no_half_of_a_secret_is_left_where_a_text_is_cut(before):
    secret = "ghp_" + "aB3dE6gH9jK2" * 3
    padding = ("--flag " * 30)[:before]
    transcript = (
        Transcript()
        .user(f"Deploy it {padding} with token {secret} please")
        .run(
            f"./deploy.sh {padding} --token {secret}",
            f"error: {padding} bad token {secret} given",
            failed=True,
        )
    )
    transcript.run("pip install boto3").run(f"./deploy.sh {padding} --token {secret}").user(
        "no, on staging first"
    )

    found = repr(extract(transcript.events, NOW))

    assert found.count("content=") == 2
    assert not any(secret[at : at + 8] in found for at in range(len(secret) - 7))


def test_a_command_that_passes_after_another_was_run_is_an_error_with_its_fix():
    transcript = Transcript().user("run the tests")
    transcript.run("pytest", "E   ModuleNotFoundError: No module named 'httpx'\n1 error", failed=True)
    transcript.run("pip install httpx").run("pytest -q", "12 passed")

    (made,) = extract(transcript.events, NOW)

    assert made.kind == "error_pattern"
    assert made.content == (
        "`pytest` failed: “ModuleNotFoundError: No module named 'httpx'”. It passed after `pip install httpx`."
    )
    assert made.messages == (1, 6)
    assert made.signals == (RESOLVED_ERROR,)


def test_a_fix_names_the_files_and_the_cause_that_was_told():
    transcript = Transcript().user("run the tests")
    transcript.run("npm test", "TypeError: items.map is not a function", failed=True)
    transcript.agent_says(
        "Let me look. The reducer returns an object where a list is wanted. I'll change it."
    )
    transcript.edit("src/cart.ts").run("npm test", "6 passed")

    (made,) = extract(transcript.events, NOW)

    assert "The reducer returns an object where a list is wanted." in made.content
    assert "a change in `src/cart.ts`" in made.content
    assert made.file_paths == ("src/cart.ts",)


def test_a_fix_is_told_with_the_reason_that_the_agent_gives_once_it_works():
    transcript = Transcript().user("run the tests")
    transcript.run("mvn test", "AssertionError: expected 1 but was 0", failed=True).edit("src/JobTest.java")
    transcript.run("mvn test", "Tests run: 1, Failures: 0").agent_says(
        "The job is green now. The clock of the tests stands still, so tests must take the time from the `clock` bean."
    )

    (made,) = extract(transcript.events, NOW)

    assert "tests must take the time from the `clock` bean. It passed after a change in" in made.content
    assert made.importance >= 0.7


def test_a_report_that_it_works_is_no_reason():
    transcript = Transcript().user("run the tests")
    transcript.run("mvn test", "AssertionError: expected 1 but was 0", failed=True).edit("src/JobTest.java")
    transcript.run("mvn test", "Tests run: 1, Failures: 0").agent_says(
        "The job passes and the report is written."
    )

    (made,) = extract(transcript.events, NOW)

    assert made.content.endswith("expected 1 but was 0”. It passed after a change in `src/JobTest.java`.")


def test_the_same_target_with_another_before_it_is_the_same_command():
    transcript = (
        Transcript().user("build it").run("idf.py build", "fatal error: i2c.h: No such file", failed=True)
    )
    transcript.run(". ~/esp/export.sh >/dev/null && idf.py fullclean build", "Project build complete")

    (content,) = learnt(transcript)

    assert content.endswith("What worked: `. ~/esp/export.sh && idf.py fullclean build`.")


def test_another_form_of_the_command_can_be_the_fix():
    transcript = Transcript().user("push it").run("git push", "fatal: no upstream branch", failed=True)
    transcript.run("git push --set-upstream origin topic")

    (content,) = learnt(transcript)

    assert content.endswith("What worked: `git push --set-upstream origin topic`.")


def test_each_error_on_the_way_has_its_own_fix():
    transcript = Transcript().user("test it")
    transcript.run("mix test", "** (RuntimeError) no secret key", failed=True).edit("config/test.exs")
    transcript.run("mix test", "** (RuntimeError) lazy_html is missing", failed=True).edit("mix.exs")
    transcript.run("mix test", "5 tests, 0 failures")

    first, second = learnt(transcript)

    assert "no secret key" in first and "`config/test.exs`" in first and "mix.exs" not in first
    assert "lazy_html" in second and "`mix.exs`" in second


def test_what_did_not_help_is_no_fix():
    transcript = Transcript().user("lint it")
    transcript.run("ruff check .", "error: F401 unused import", failed=True).edit("src/wrong.py")
    transcript.run("ruff check .", "error: F401 unused import", failed=True).edit("src/right.py")
    transcript.run("ruff check .")

    (made,) = extract(transcript.events, NOW)

    assert "src/right.py" in made.content and "src/wrong.py" not in made.content
    assert made.messages == (1, 10)


@pytest.mark.parametrize(
    "failing, passing",
    [
        ("grep -rn frobnicate src", "grep -rn frob src"),
        ("ls src/lib", "ls src"),
        ("pytest", "pytest"),
        ("pip install foo", "pip install bar"),
        ("python -c 'import foo'", "python -c 'import bar'"),
    ],
)
def test_a_search_a_flake_and_another_matter_are_no_fixes(failing, passing):
    transcript = Transcript().user("go").run(failing, "error: nothing", failed=True).run(passing)

    assert learnt(transcript) == []


def test_a_host_that_does_not_say_how_a_run_ended_is_read_by_its_output():
    transcript = Transcript().user("go")
    transcript.run("pytest a.py", "E   KeyError: 'x'\n=== 1 failed in 0.1s ===", failed=None).edit("a.py")
    transcript.run("pytest a.py", "=== 1 passed in 0.1s ===", failed=None)

    assert kinds(transcript) == ["error_pattern"]


def test_a_pipe_does_not_hide_that_tests_failed():
    transcript = Transcript().user("go").run("pytest a.py | tail -3", "E   KeyError: 'x'\n1 failed in 0.1s")
    transcript.edit("a.py").run("pytest a.py | tail -3", "1 passed in 0.1s")

    assert kinds(transcript) == ["error_pattern"]


def test_commands_that_succeed_together_twice_are_a_procedure():
    transcript = Transcript().user("ship both fixes")
    for number in (1, 2):
        transcript.edit(f"src/f{number}.py").run("ruff check .").run(f"pytest -q tests/t{number}.py")
        transcript.run(f"git commit -am 'fix {number}'").run("git push")

    (made,) = extract(transcript.events, NOW)

    assert made.kind == "procedure"
    assert made.steps == ("ruff check .", "pytest -q", "git commit -am", "git push")


def test_a_lasting_truth_that_the_agent_found_is_kept_once():
    transcript = Transcript().user("migrate")
    transcript.agent_says("SQLite does not support `ALTER COLUMN ... TYPE`, so the table has to be rebuilt.")
    transcript.agent_says("As SQLite doesn't support `ALTER COLUMN`, so the table has to be rebuilt here.")

    assert learnt(transcript) == [
        "SQLite does not support `ALTER COLUMN ... TYPE`, so the table has to be rebuilt."
    ]


def test_a_statement_is_found_once_a_session():
    one = Transcript("s1").user("We always squash commits.").user("we always squash commits.")
    two = Transcript("s2").user("We always squash commits.")

    found = extract([*one.events, *two.events], NOW)

    assert [(made.session, made.messages) for made in found] == [
        ("s1", (0, 0)),
        ("s2", (0, 0)),
    ]
    assert found[0].fingerprint == found[1].fingerprint


def test_sessions_told_in_turns_are_kept_apart():
    one = Transcript("s1").run("pytest", "E   KeyError: 'x'", failed=True)
    two = Transcript("s2").edit("a.py").run("pytest", "1 passed")

    assert extract([*one.events, *two.events], NOW) == []


def test_a_finding_carries_what_promotion_needs():
    (made,) = extract(working().user("No, never commit generated files.").events, NOW)

    assert set(made.signals) == {USER_INTENT, USER_CORRECTION}
    assert made.source is Source.USER_CORRECTED
    assert made.kind in KINDS
    assert made.created_at == NOW + timedelta(seconds=2)


def test_a_finding_is_short_whatever_was_said():
    (content,) = learnt(Transcript().user("We always write very long sentences " + "and more of them " * 80))

    assert len(content) <= 500


def test_reading_a_long_transcript_keeps_little():
    def endless() -> Iterator[Event]:
        call = Transcript().run("make build", "error: no rule\n" + "x" * 10_000, failed=True).events
        for turn in range(2_000):
            for event in call:
                yield replace(event, order=turn * 2 + event.order, call=f"c{turn}")

    assert extract(endless(), NOW) == []
