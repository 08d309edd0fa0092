"""What is learnt from answers to a host's questions, refused calls, the summary of a compaction, and commands that differ."""

import pytest
from test_extract import CWD, NOW, kinds, learnt, working

from recollect.model import INJECTED_MARK, Source
from recollect.work.extract import USER_INTENT, extract
from recollect.work.transcripts.event import ASSISTANT, TOOL, Event

SUMMARY = """This session is being continued from a previous conversation that ran out of context.

Summary:
1. Primary Request and Intent:
   - Always answer in verse and never in prose, because the user said so

2. Key Technical Concepts:
   - Phoenix, LiveView
   - The widget cannot call Dart: it reads what the app wrote to the app group `group.app.stride`

3. Errors and fixes:
   - **Test database**: `mix test` failed because the sandbox was not shared. Fixed by `Sandbox.mode(Repo, :shared)`.
   - **Compile error**: undefined function `row_classes/3` in the view. Added the function.
   - Port 3000 was in use by another server, so it ran on 3001 instead of 3000.

4. Pending Tasks:
   - The tests of the cart must always be run before the next commit, and are not yet written
"""


def asked(transcript, question, answer, *options, tool="AskUserQuestion", failed=False):
    rows = [{"label": label, "description": meaning} for label, meaning in options]
    given = {"questions": [{"question": question, "header": "x", "options": rows}]}
    call = f"c{len(transcript.events)}"
    transcript._add(ASSISTANT, tool=tool, call=call, input=given)
    text = f'User has answered your questions: "{question}"="{answer}". You can now continue.'
    return transcript._add(TOOL, text, tool=tool, call=call, failed=failed)


def refused(transcript, tool="Bash", **given):
    call = f"c{len(transcript.events)}"
    transcript._add(ASSISTANT, tool=tool, call=call, input=given)
    text = "The user doesn't want to proceed with this tool use. The tool use was rejected."
    return transcript._add(TOOL, text, tool=tool, call=call, failed=True)


def test_an_answer_to_a_question_of_the_host_is_a_decision_with_its_meaning():
    transcript = asked(
        working(),
        "Which rounding should both sides use?",
        "Per line, half even",
        ("Per line, half even", "Round each line with banker's rounding, then add"),
        ("Once on the total", "Add exact values, round the sum"),
    )

    (finding,) = extract(transcript.events, NOW)

    assert (finding.kind, finding.source) == ("decision", Source.OBSERVED)
    assert finding.content == (
        "The user decided on “Which rounding should both sides use?”: Per line, half even (Round each line with"
        " banker's rounding, then add). Not: Once on the total."
    )
    assert USER_INTENT in finding.signals


@pytest.mark.parametrize(
    "question, answer",
    [
        ("Shall I proceed with the migration?", "Go with the second one"),
        ("Which cache should we use?", "Yes"),
        ("Should I also run the linter now?", "Run it with --fix please"),
        ("Which ticket comes next?", "The one about invoices"),
    ],
)
def test_an_answer_about_the_next_step_is_none(question, answer):
    assert learnt(asked(working(), question, answer)) == []


def test_a_question_that_nobody_answered_is_nothing():
    assert learnt(asked(working(), "Which cache should we use?", "Redis for all", failed=True)) == []


def test_what_the_user_says_after_refusing_a_command_names_the_command():
    transcript = refused(working(), command="emulator -avd Pixel_8_Pro &")
    transcript.user("that one eats my whole RAM. take pixel_6_api_34 and start it with -no-window")

    assert learnt(transcript) == [
        "Instead of `emulator -avd Pixel_8_Pro &`: That one eats my whole RAM. Take pixel_6_api_34 and start it with"
        " -no-window."
    ]
    assert kinds(transcript) == ["correction"]


def test_a_rule_that_is_said_with_a_refusal_stays_a_rule_of_the_user():
    transcript = refused(working(), "ExitPlanMode", plan="# Rate limiting\n1. One bucket per IP")
    transcript.user("the limiter has to key on the X-Edge-Key, not on the IP")

    (finding,) = extract(transcript.events, NOW)

    assert finding.content == "The limiter has to key on the X-Edge-Key, not on the IP."
    assert finding.source is Source.USER_CORRECTED


@pytest.mark.parametrize(
    "text", ["wait, not yet", "no", "let me do it", "stop", "why that one?", "not now please"]
)
def test_a_refusal_that_only_stops_the_agent_is_not_kept(text):
    assert learnt(refused(working(), command="npm publish").user(text)) == []


@pytest.mark.parametrize(
    "text, content",
    [
        ("please keep in mind for good: never pass -u yourself", "Never pass -u yourself."),
        ("note to self and to you: both event shapes arrive", "Both event shapes arrive."),
        ("don't forget that the seed data is German", "The seed data is German."),
        ("for the record: releases are cut by Ines", "Releases are cut by Ines."),
    ],
)
def test_a_wish_to_remember_is_understood_in_many_wordings(text, content):
    assert learnt(working().user(text)) == [content]


@pytest.mark.parametrize(
    "text",
    [
        "strings live in core/ui/strings.xml, feature modules have none",
        "src/generated is written by codegen, run pnpm codegen",
        "model specs here don't hit the database. use build_stubbed",
        "never -migrate-state here!! state of prod must not move",
        "tag it all, finance wants cost-center on every resource",
        "The note should be short, but use the Clamp component rather than css line-clamp",
    ],
)
def test_what_the_user_says_about_the_project_is_kept_as_theirs(text):
    (finding,) = extract(working().user(text).events, NOW)

    assert finding.source in (Source.USER_CORRECTED, Source.USER_STATED)


@pytest.mark.parametrize(
    "text",
    [
        "it lives in the cart",
        "that is generated by the script",
        "the simulator is slow today, skip it",
        "make it 75 for now",
    ],
)
def test_what_names_nothing_or_holds_today_only_is_not_kept(text):
    assert [
        each for each in extract(working().user(text).events, NOW) if each.source is not Source.OBSERVED
    ] == []


def test_the_summary_of_a_compaction_is_read_as_the_agents_words():
    transcript = working().agent_says(SUMMARY)

    findings = extract(transcript.events, NOW)

    assert [(each.kind, each.content) for each in findings] == [
        (
            "error_pattern",
            "Test database: `mix test` failed because the sandbox was not shared. Fixed by `Sandbox.mode(Repo, :shared)`.",
        ),
        (
            "fact",
            "The widget cannot call Dart: it reads what the app wrote to the app group `group.app.stride`.",
        ),
    ]
    assert {each.source for each in findings} == {Source.EXTRACTED}


def test_what_the_user_said_is_read_from_a_summary_as_the_agents_words():
    said = '\n5. All user messages:\n   - "the ring is wrong"\n   - "no names in the sms, only the time. that\'s the law"\n'
    transcript = working()
    transcript._add(ASSISTANT, SUMMARY + said)

    findings = [finding for finding in extract(transcript.events, NOW) if "sms" in finding.content]

    assert [(finding.kind, finding.content, finding.source) for finding in findings] == [
        ("correction", "No names in the sms, only the time. That's the law.", Source.EXTRACTED)
    ]


def test_a_summary_that_the_user_or_recollect_wrote_is_not_read():
    assert learnt(working().user(SUMMARY, injected=True)) == []
    assert learnt(working().agent_says(f"{INJECTED_MARK}\n{SUMMARY}")) == []


def test_a_huge_summary_is_read_in_part_and_quickly():
    points = "\n".join(
        f"- Case {number}: it failed because of {number * 7} and had to be changed"
        for number in range(50_000)
    )

    assert len(learnt(working().agent_says(f"<summary>\n4. Errors and fixes:\n{points}"))) <= 12


def test_the_difference_between_two_commands_is_stated_as_the_difference():
    transcript = working().run(
        "./gradlew test", "Unsupported class file major version 67 error: x", failed=True
    )
    transcript.run("java -version", "openjdk 23").run("JAVA_HOME=/jvm/17 ./gradlew test", "BUILD SUCCESSFUL")

    assert learnt(transcript) == [
        "`./gradlew test` failed: “Unsupported class file major version 67 error: x”. What worked: the same with"
        " `JAVA_HOME=/jvm/17`."
    ]


def test_an_option_that_got_further_is_learnt_even_if_the_command_failed_again():
    transcript = working().run("go test -race ./...", "go: -race requires cgo", failed=True)
    transcript.run(
        "CGO_ENABLED=1 go test -race ./...", "--- FAIL: TestStore (0.01s)\n    race detected", failed=True
    )

    assert learnt(transcript) == [
        "`go test -race ./...` failed: “go: -race requires cgo”. Without that error: the same with `CGO_ENABLED=1`."
    ]


@pytest.mark.parametrize(
    ("answer", "signals"), [("yes, that was it", ("error-resolution",)), ("hm, what else?", ())]
)
def test_a_cause_that_the_user_confirms_counts_as_resolved(answer, signals):
    transcript = working().agent_says("The root cause is that the relay allows 50 connections per host.")
    transcript.user(answer)

    (finding,) = extract(transcript.events, NOW)

    assert finding.signals == signals


def test_a_command_that_works_through_another_program_says_which():
    transcript = working().run("php artisan test --filter Mail", "could not find driver", failed=True)
    transcript.run("./vendor/bin/sail artisan test --filter Mail", "1 passed")

    assert "What worked: `./vendor/bin/sail artisan test --filter Mail`" in learnt(transcript)[0]


def test_what_a_tool_mends_itself_is_not_kept():
    transcript = working().run("ruff check app", "app/a.py: error: unused import\nFound 1 error", failed=True)
    transcript.run("ruff check app --fix", "All checks passed!")

    assert learnt(transcript) == []


def test_a_command_that_works_in_another_folder_says_which():
    transcript = working().run("npm run lint", "ESLint couldn't find an eslint.config.js file", failed=True)
    transcript.run("cd .. && npm run lint -w mailer", "ok")

    assert "What worked: `cd .. && npm run lint -w mailer`" in learnt(transcript)[0]


def test_gradle_is_quoted_with_the_innermost_cause():
    output = "* What went wrong:\nA problem occurred configuring project ':w'.\n> Could not create it.\n   > Namespace not specified.\n\n* Try:\n> Run with --stacktrace"
    transcript = working().run("./gradlew test", output, failed=True)
    transcript.run("flutter pub upgrade w").run("./gradlew test", "BUILD SUCCESSFUL")

    assert "“A problem occurred configuring project ':w': Namespace not specified”" in learnt(transcript)[0]


@pytest.mark.parametrize(
    "error",
    [
        "Error: Address already in use - port 3000",
        "Error: Error acquiring the state lock",
        "Error: listen EADDRINUSE",
    ],
)
def test_an_error_of_the_day_is_not_kept(error):
    transcript = working().run("bin/serve", error, failed=True).run("bin/serve --port 3001", "listening")

    assert learnt(transcript) == []


def test_an_error_that_names_its_own_remedy_matters_little():
    transcript = working().run("tflint", 'Error: plugin not found. Did you run "tflint --init"?', failed=True)
    transcript.run("tflint --init && tflint", "ok")

    (finding,) = extract(transcript.events, NOW)

    assert finding.importance < 0.5


def test_events_without_a_call_are_no_answers():
    event = Event("s1", 0, TOOL, '"Which cache?"="Redis"', tool="AskUserQuestion", call="c9", cwd=CWD)

    assert extract([event], NOW) == []
