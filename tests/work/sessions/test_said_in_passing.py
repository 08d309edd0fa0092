"""What a session leaves in memory when a user corrects, asks to remember or objects in unusual words.

`LEARNT` and `NOT_LEARNT` were written before the rules for them, when 0 of 10 and 9 of 10 came out as they should.
`WRITTEN_LATER` and `NOT_LEARNT_EITHER` were written when the rules were done; at first sight 18 of 23 and 26 of 31 did, of which
these are a part.
"""

import json

import pytest

WORK = (
    ("user", "add the nightly export to the report service"),
    ("Bash", "make test", "Exit code 2\nassertion failed: left == right", True),
    ("Write", "/srv/shop/src/export.py"),
    ("assistant", "I wrote the export; next comes its schedule."),
)
LEARNT = [
    (
        "nope, we don't do singletons here. pass the clock in through the constructor",
        ["singletons", "constructor"],
    ),
    (
        "no, not moment. dates go through the helpers in lib/dates because the server sends its own format",
        ["moment", "lib/dates", "its own format"],
    ),
    ("wrong: the retry limit is per tenant, the queue itself has none", ["retry limit", "per tenant"]),
    ("btw so you know, the nightly import only accepts latin-1 files", ["nightly import", "latin-1"]),
    (
        "jot this down for later: release tags are signed by Priya, the pipeline rejects unsigned ones",
        ["Release tags", "unsigned"],
    ),
    ("hands off the fixtures in spec/golden, the auditors generate them", ["spec/golden", "auditors"]),
    ("not redux. state lives in the url, the share links depend on it", ["redux", "url", "share links"]),
    (
        "sensor ids are hex in the log files, everywhere else they are decimal. yes, it's odd",
        ["Sensor ids", "hex", "decimal"],
    ),
    ("file this away: the sandbox account resets every night at two", ["sandbox account", "every night"]),
    ("one for your notebook, the arm runners have no docker socket", ["arm runners", "docker socket"]),
]
NOT_LEARNT = [
    "no, not that one. the other tab is open, look there",
    "nope, still red. the spinner never goes away",
    "not now. the meeting starts in five minutes, we look at it later",
    "add a note to the readme: the demo account resets every night",
    "remember me should be ticked by default on the login form",
    "hands off for a moment, i'm editing the file myself",
    "wrong window, sorry. that was meant for somebody else",
    "btw the build is green again, thanks",
    "tie the knot animation to the scroll position",
    "everything else looks good, the header is a bit too large though",
]
WRITTEN_LATER = [
    (
        "no! prices are in cents everywhere, the frontend divides",
        "Prices are in cents everywhere, the frontend divides.",
    ),
    ("not pandas please, the lambda has a 50 MB limit", "Not pandas: the lambda has a 50 MB limit."),
    ("that's wrong, tenants never share a bucket", "Tenants never share a bucket."),
    (
        "remember that i have an ARM laptop, docker images need arm64",
        "I have an ARM laptop, docker images need arm64.",
    ),
    (
        "sorting in place is a bug waiting to happen, we never change arguments in the core packages",
        "We never change arguments in the core packages.",
    ),
    (
        "wrong. the cron runs in UTC because the servers have no timezone",
        "The cron runs in UTC because the servers have no timezone.",
    ),
    (
        "keep this in the back of your mind: the vendor api allows ten calls per minute",
        "The vendor api allows ten calls per minute.",
    ),
    ("stay out of legacy/, nobody has tests for it", "Stay out of legacy/, nobody has tests for it."),
    (
        "timestamps are in seconds in the old api, the rest uses milliseconds",
        "Timestamps are in seconds in the old api, the rest uses milliseconds.",
    ),
    ("no, not jest. use vitest", "Use vitest, not jest."),
    (
        "good to know: release branches are cut on the first Monday of a month",
        "Release branches are cut on the first Monday of a month.",
    ),
    (
        "before i forget: the gateway strips headers that start with x-internal",
        "The gateway strips headers that start with x-internal.",
    ),
]
NOT_LEARNT_EITHER = [
    "nope, not green. the second test fails",
    "not blue. use green for the header",
    "no, the button is too small",
    "just so you know, the build is running",
    "for later: maybe a dark mode",
    "put a reminder on the calendar page: the text is empty",
    "before i forget: can you also bump the version",
    "no, not there. the other file has it",
    "reminder: the demo is today at four",
    "take that in, then continue with the next file",
    "no, the first column only shows names, i wanted emails too",
    "in your head section, the title is missing",
]
REPORTS = [
    "wrong. the count is 3 because you forgot the first row",
    "that is wrong: every row in your table is shifted by one",
    "incorrect. the page only shows the first ten rows after your change",
    "the spinner is red in dark mode, everywhere else it is blue. can you fix that",
    "the totals are in euros on the first page, everywhere else in dollars. fix it",
    "no, the user never clicks that button in this flow, so skip the test for it",
    "heads up: lunch, back at two",
    "note that the error only appears in firefox right now",
    "for the record: i did run make test and it was green before your change",
    "no, nobody has complained about it yet",
    "wrong. your list only has the open orders",
    "no, the footer is always hidden since your last commit",
    "incorrect: each total you printed is off by a cent",
    "the labels are bold on the invoice page, everywhere else they are regular. please change it",
    "heads up: coffee break, back in ten",
]
NO_REPORTS = [
    (
        "wrong. the count is per warehouse because each has its own stock",
        "The count is per warehouse because each has its own stock.",
    ),
    (
        "amounts are gross in the invoices, everywhere else they are net. the tax office wants it so",
        "Amounts are gross in the invoices, everywhere else they are net.",
    ),
    ("heads up: the linter only runs on staged files", "The linter only runs on staged files."),
    ("no, guests never see drafts, the api filters them", "Guests never see drafts, the api filters them."),
    ("for the record: the mirror only syncs at night", "The mirror only syncs at night."),
]
SUMMARY = """This session is being continued from a previous conversation that ran out of context.

Summary:
1. Errors and fixes:
   - The first version updated the rows of the journal, which the database refused. User: "journal rows are never changed, write a second row instead of an update"
   - Rebasing gave two heads of migrations: user feedback: no merge migrations in this project, make your own again after the rebase.
   - `make import` ran out of memory with the large file. Works with `CHUNK=500 make import`.

2. All user messages:
   - "add corrections to the journal"
   - "journal rows are never changed, write a second row instead of an update"
"""


@pytest.fixture
def memories(engine, tmp_path):
    """Return a function that learns from a session and returns what is in memory then."""

    def learn(*said):
        path = tmp_path / "said.jsonl"
        path.write_text("".join(json.dumps(line) + "\n" for line in _lines(said)))
        learning = engine.sessions.learn_from_files([path])
        return [engine.get(name).content for name in learning.promoted]

    return learn


def _lines(said):
    """Yield a session as Claude Code writes it; a call is its tool, what it does, its output and whether it failed."""
    number = 0
    for who, text, *answer in said:
        if who in ("user", "assistant", "summary"):
            parts = [(who.replace("summary", "user"), text)]
        else:
            given = {"command": text} if who == "Bash" else {"file_path": text, "content": "x"}
            output, failed = (*answer, "", False)[:2] if answer else ("File created successfully", False)
            call = {"type": "tool_use", "id": f"c{number}", "name": who, "input": given}
            result = {
                "type": "tool_result",
                "tool_use_id": f"c{number}",
                "content": output,
                "is_error": failed,
            }
            parts = [("assistant", [call]), ("user", [result])]
        for role, content in parts:
            yield {
                "type": role,
                "sessionId": "said",
                "uuid": f"u{number}",
                "timestamp": f"2026-01-01T12:{number:02}:00Z",
                "cwd": "/srv/shop",
                "isCompactSummary": who == "summary",
                "message": {"role": role, "content": content},
            }
            number += 1


@pytest.mark.parametrize(("message", "parts"), LEARNT)
def test_what_a_user_says_in_passing_becomes_one_memory(memories, message, parts):
    (memory,) = memories(*WORK, ("user", message))

    assert [part for part in parts if part not in memory] == []


@pytest.mark.parametrize("message", NOT_LEARNT)
def test_what_sounds_alike_becomes_none(memories, message):
    assert memories(*WORK, ("user", message)) == []


@pytest.mark.parametrize(("message", "memory"), WRITTEN_LATER)
def test_what_a_user_says_in_passing_is_kept_in_their_words(memories, message, memory):
    assert memories(*WORK, ("user", message)) == [memory]


@pytest.mark.parametrize("message", NOT_LEARNT_EITHER)
def test_reports_tasks_and_moments_become_none(memories, message):
    assert memories(*WORK, ("user", message)) == []


@pytest.mark.parametrize("message", REPORTS)
def test_a_report_about_the_work_becomes_none(memories, message):
    assert memories(*WORK, ("user", message)) == []


@pytest.mark.parametrize(("message", "memory"), NO_REPORTS)
def test_a_fact_that_sounds_like_a_report_is_kept(memories, message, memory):
    assert memories(*WORK, ("user", message)) == [memory]


def test_what_speaks_of_these_things_names_the_file_it_is_about(memories):
    said = ("user", "ids are hex on these readers, everything else is decimal. yes really")

    assert memories(*WORK, said) == [
        "In `src/export.py`: Ids are hex on these readers, everything else is decimal."
    ]


@pytest.mark.parametrize(
    "message",
    ["remember that ids are hex on these readers", "remember that it needs a second run after the import"],
)
def test_what_names_no_subject_is_not_kept(memories, message):
    assert memories(*WORK[:2], ("user", message)) == []


def test_what_names_its_subject_in_the_sentence_before_is_kept_with_it(memories):
    said = ("user", "the import job reads the file twice. remember that it needs a second worker")

    assert memories(*WORK, said) == ["The import job reads the file twice. It needs a second worker."]


FIX = (
    ("user", "install the app on the tablet"),
    (
        "Bash",
        "adb install -r app.apk",
        "Exit code 1\nadb: failed to install app.apk: signatures do not match",
        True,
    ),
    ("Bash", "adb uninstall shop.till && adb install app.apk", "Success", False),
    ("assistant", "Installed; the old version had to go first."),
)


@pytest.mark.parametrize(
    "objection",
    [
        "ah shoot, ok. but don't uninstall on the tablet without asking",
        "why did you uninstall it?",
        "no uninstalling on that tablet, ever",
        "ask me before you uninstall something",
        "oh no, that wipes the pairing",
        "that's not ok, the pairing is gone",
    ],
)
def test_a_fix_that_the_user_objects_to_is_not_kept(memories, objection):
    assert [memory for memory in memories(*FIX, ("user", objection)) if "What worked" in memory] == []


@pytest.mark.parametrize(
    "answer",
    [
        "great, don't forget to commit",
        "never install an apk without uninstalling the old one",
        "don't use the release key for the tablet, use the debug one",
        "thanks. why did the signatures differ?",
    ],
)
def test_a_fix_that_the_user_does_not_object_to_is_kept(memories, answer):
    kept = [memory for memory in memories(*FIX, ("user", answer)) if "What worked" in memory]

    assert len(kept) == 1


SET = (
    ("user", "run the tests"),
    ("Bash", "pytest", "Exit code 1\nModuleNotFoundError: No module named 'app'", True),
    ("Bash", "PYTHONPATH=src pytest", "12 passed", False),
    ("assistant", "They pass with PYTHONPATH=src."),
)
MADE = (
    ("user", "build it"),
    ("Bash", "make build", "Exit code 2\nerror: protoc-gen-go: program not found", True),
    ("Bash", "make tools", "installed", False),
    ("Bash", "make build", "ok", False),
    ("assistant", "Built after `make tools`."),
)
STARTED = (
    ("user", "run the migration"),
    ("Bash", "npm run migrate", "Exit code 1\nError: connect ECONNREFUSED 127.0.0.1:5432", True),
    ("Bash", "docker compose up -d db", "started", False),
    ("Bash", "npm run migrate", "ok", False),
    ("assistant", "The database was not running."),
)


@pytest.mark.parametrize(
    ("fix", "remark"),
    [
        *(
            (FIX, remark)
            for remark in (
                "no problem, uninstalling is fine",
                "not sure why it had to uninstall, but ok",
                "nice, I did not know about uninstall",
                "no need to uninstall next time i guess? anyway thanks",
                "no, that's fine. next: the icon",
                "stop the emulator when you're done",
                "great, it does not need a second uninstall",
                "don't touch the tablet config but the shop.till fix was right",
                "it can't be installed any other way, right, so uninstall it is",
                "it drops the database connection when I open the app, look into that",
                "this breaks on android 12, check the manifest",
                "that removes the need for the script, thanks",
                "it lost my selection when I scrolled, fix that in the list view",
                "it lost my selection when I scrolled",
                "hm, I had not expected it to uninstall so quickly",
                "if you don't uninstall it first it fails, right",
                "you can't uninstall system apps that way, interesting",
                "that dropped the build time, wow",
                "oh, that removed the popup too",
            )
        ),
        *(
            (SET, remark)
            for remark in (
                "not bad. now the docs in src please",
                "don't put anything in src/legacy, and write the changelog",
                "it's not the PYTHONPATH=src that i worry about, go on",
                "there is no README in src, add one",
                "thanks! next task: do not log tokens in src/auth.py",
                "should the tests not live in src? just asking",
            )
        ),
        *(
            (MADE, remark)
            for remark in (
                "don't forget the tools need docs",
                "no tools in the final image please, only the binary",
                "never mind the warnings from tools",
                "why do you think the tools were missing?",
                "we should not ship the tools folder to customers",
                "here is the spec: " + "the page lists orders. " * 120 + "don't make tools",
                "why are the tools not in the image, by the way?",
            )
        ),
        *(
            (STARTED, remark)
            for remark in (
                "no need to bring up the docker logs",
                "don't run docker in CI, the runner has its own db",
                "not up to me, ask Bea",
                "don't give up on the second migration",
                "stop now, the db is fine",
                "it drops the old column, right? good",
                "ok. next: the page should not load the db twice",
                "now this, from the server log:\nERROR worker could not reach docker registry, retrying in 5s",
                "it kills the battery on my phone if the page stays open",
                "can the worker not wait for the db? add a retry",
                "no docker logs in the answer please, they are long",
            )
        ),
    ],
)
def test_a_fix_outlives_remarks_questions_and_the_next_task(memories, fix, remark):
    assert len(_fixes(memories(*fix, ("user", remark)))) == 1


@pytest.mark.parametrize(
    ("fix", "objection"),
    [
        (FIX, "please never uninstall apps on my devices"),
        (FIX, "you should not have uninstalled it"),
        (SET, "hey, don't set PYTHONPATH, install the package instead"),
        (STARTED, "stop starting docker on my machine"),
        (STARTED, "no docker on this machine please"),
        (MADE, "why did you run make tools?"),
        (FIX, "ugh, it wiped the pairing"),
        (FIX, "undo that please"),
        (FIX, "you can't just uninstall it"),
        (STARTED, "we can't use docker here, start postgres with brew"),
    ],
)
def test_a_clear_objection_withdraws_the_fix(memories, fix, objection):
    assert _fixes(memories(*fix, ("user", objection))) == []


@pytest.mark.parametrize(
    ("message", "kept"),
    [("wait, don't uninstall anything on the tablet", 0), ("for the second app: no uninstall please", 1)],
)
def test_a_fix_is_withdrawn_some_messages_later_but_not_by_a_name_alone(memories, message, kept):
    later = (*FIX, ("user", "now the icon"), ("assistant", "Changed the icon."), ("user", message))

    assert len(_fixes(memories(*later))) == kept


def _fixes(contents):
    return [content for content in contents if " failed: “" in content]


def test_an_objection_to_one_fix_leaves_the_others(memories):
    other = (
        ("Bash", "make apk", "Exit code 2\nerror: Unsupported class file major version 69", True),
        ("Bash", "JAVA_HOME=/opt/jdk21 make apk", "ok", False),
    )

    (kept,) = memories(FIX[0], *other, *FIX[1:], ("user", "oh no, that wipes the pairing"))

    assert "JAVA_HOME" in kept


def test_what_a_summary_quotes_of_the_user_is_kept_once_and_as_their_rule(memories):
    kept = memories(
        ("user", "go on"), ("assistant", "I go on."), ("summary", SUMMARY), ("assistant", "Done.")
    )

    assert sorted(kept) == [
        "Journal rows are never changed, write a second row instead of an update.",
        "No merge migrations in this project, make your own again after the rebase.",
        "`make import` ran out of memory with the large file. Works with `CHUNK=500 make import`.",
    ]
