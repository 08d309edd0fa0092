"""What a user says in passing becomes a plain rule, in the user's own words; other messages become none.

The rules were written with `SEEN` and `NO_RULE` in view. `WRITTEN_LATER` and `NO_RULE_EITHER` were written when the
rules were done; at first sight 19 of 20 and 11 of 12 came out as they should.
"""

from datetime import UTC, datetime

import pytest

from recollect.model import Source
from recollect.work.extract import extract
from recollect.work.transcripts.event import Event

SEEN = [
    (
        "the widget must not import CoreData. shared things go through BudgetKit",
        "The widget must not import CoreData. Shared things go through BudgetKit.",
    ),
    (
        "every string the visitor sees has to go through gettext",
        "Every string the visitor sees has to go through gettext.",
    ),
    (
        "amounts in the UI always with the locale formatter, never with printf",
        "Amounts in the UI always with the locale formatter, never with printf.",
    ),
    (
        "also all secrets in vault files please, nothing in group_vars",
        "All secrets in vault files please, nothing in group_vars.",
    ),
    (
        "no threads for drawing. everything periodic goes on the work queue",
        "No threads for drawing. Everything periodic goes on the work queue.",
    ),
    (
        "we never show a bare error. always code with a hint",
        "We never show a bare error. Always code with a hint.",
    ),
    (
        "use events up, calls down. the toolbar must not reach into the player",
        "Use events up, calls down. The toolbar must not reach into the player.",
    ),
    ("whoa. nobody runs helm by hand, Argo does it", "Nobody runs helm by hand, Argo does it."),
    (
        "when you write tests for exports: compare with the golden files",
        "When you write tests for exports: compare with the golden files.",
    ),
    ("remember that one: new files have to be added to git", "New files have to be added to git."),
    (
        "stop, tyre values are not in code, they are in data/tyres",
        "Tyre values are not in code, they are in data/tyres.",
    ),
    ("btw pins never get written into C", "Pins never get written into C."),
    (
        "we're stuck at 1.76 because of the debian package",
        "We're stuck at 1.76 because of the debian package.",
    ),
    ("labels are German, but identifiers stay english", "Labels are German, but identifiers stay english."),
    ("No, use pnpm, not npm", "Use pnpm, not npm."),
    ("No, use pnpm again, not npm.", "Use pnpm, not npm."),
    ("we deploy on Thursdays only, remember that", "We deploy on Thursdays only."),
    ("The staging database is db-7. Please keep that in mind.", "The staging database is db-7."),
    ("please remember for next time that CI is frozen on Mondays", "CI is frozen on Mondays."),
    ("For the record, invoices are numbered per year", "Invoices are numbered per year."),
    (
        "No, on this branch use BM25 ranks, not the default order",
        "On this branch use BM25 ranks, not the default order.",
    ),
    ("use pnpm here", "Use pnpm, not npm."),
    ("From now on, run the linter before you commit.", "Run the linter before you commit."),
    (
        "please always write type hints for public functions",
        "Always write type hints for public functions.",
    ),
    ("Don't ever push directly to main.", "Don't ever push directly to main."),
    (
        "stop using print for debugging, use the logger",
        "Stop using print for debugging, use the logger.",
    ),
    ("I prefer small commits over large ones.", "I prefer small commits over large ones."),
    ("we use tabs here, not spaces", "We use tabs here, not spaces."),
    (
        "No, that's wrong: the API version lives in src/version.py",
        "The API version lives in src/version.py.",
    ),
    (
        "Actually, put the helpers into src/lib, not into src/util.",
        "Put the helpers into src/lib, not into src/util.",
    ),
    ("Never commit generated files.", "Never commit generated files."),
    ("Answer in British English, please.", "Answer in British English."),
    ("Remember: staging deploys need the VPN.", "Staging deploys need the VPN."),
    (
        "You should never mock the database in integration tests.",
        "You should never mock the database in integration tests.",
    ),
    ("Going forward, name test files test_<module>.py", "Name test files test_<module>.py."),
    ("nope, we're on yarn, not npm", "We're on yarn, not npm."),
    ("In future please use absolute imports", "Use absolute imports."),
    ("Please don't ever edit files under vendor/", "Don't ever edit files under vendor/."),
    ("quit adding comments that repeat the code", "Quit adding comments that repeat the code."),
    (
        "I'd rather have one big test file than ten small ones",
        "I'd rather have one big test file than ten small ones.",
    ),
    ("This project uses ruff, not flake8", "This project uses ruff, not flake8."),
    (
        "That's not right. Dates are stored in UTC, not local time.",
        "Dates are stored in UTC, not local time.",
    ),
    ("actually we deploy with fly, not heroku", "We deploy with fly, not heroku."),
    (
        "You must always run make check before you say you're done.",
        "You must always run make check before you say you're done.",
    ),
    ("As a rule, keep functions under forty lines.", "Keep functions under forty lines."),
    ("Make sure you always update the changelog.", "Make sure you always update the changelog."),
    ("Avoid default exports in TypeScript files.", "Avoid default exports in TypeScript files."),
    (
        "wrong, the config is in config/app.toml, not settings.py",
        "The config is in config/app.toml, not settings.py.",
    ),
    (
        "For this repo, use snake_case for json keys instead of camelCase.",
        "For this repo, use snake_case for json keys instead of camelCase.",
    ),
    ("Let's stick with httpx instead of requests.", "Let's stick with httpx instead of requests."),
    ("Use uv instead of pip, always.", "Use uv instead of pip, always."),
]
WRITTEN_LATER = [
    ("no, we use poetry here", "We use poetry here."),
    (
        "From now on please keep commit messages in the imperative mood",
        "Keep commit messages in the imperative mood.",
    ),
    ("always add a test when you fix a bug", "Always add a test when you fix a bug."),
    ("Do not ever touch the migrations folder.", "Do not ever touch the migrations folder."),
    ("please stop adding emojis to the output", "Stop adding emojis to the output."),
    ("I prefer composition over inheritance, please.", "I prefer composition over inheritance."),
    (
        "We deploy from the release branch here, not from main.",
        "We deploy from the release branch here, not from main.",
    ),
    (
        "No, that's incorrect: timeouts are in milliseconds, not seconds",
        "Timeouts are in milliseconds, not seconds.",
    ),
    ("Actually, use vitest rather than jest.", "Use vitest rather than jest."),
    ("Never use default arguments that are mutable.", "Never use default arguments that are mutable."),
    (
        "In this project we write docstrings for every public class.",
        "In this project we write docstrings for every public class.",
    ),
    ("Next time, ask me before you install new packages.", "Ask me before you install new packages."),
    ("I don't like it when you reformat whole files.", "I don't like it when you reformat whole files."),
    (
        "Keep in mind that the staging server has no internet access.",
        "The staging server has no internet access.",
    ),
    (
        "You must not change the public API without asking.",
        "You must not change the public API without asking.",
    ),
    ("use black instead of autopep8", "Use black instead of autopep8."),
    ("Wrong. We store money as integers, not floats.", "We store money as integers, not floats."),
    ("Our rule is: one class per file.", "Our rule is: one class per file."),
    (
        "nope, run the tests with tox, not with pytest directly",
        "Run the tests with tox, not with pytest directly.",
    ),
    ("For the future: don't squash my commits.", "Don't squash my commits."),
]
NO_RULE = [
    "Should we use pnpm instead of npm?",
    "use port 3001 for this run",
    "Use the staging database just this once.",
    "Skip the slow tests this time, not the fast ones.",
    "> always use npm\n\nwhat does this line in the README mean?",
    "The README says you should never use sudo. Is that still true?",
    "npm ERR! code ELIFECYCLE\nnpm ERR! never use --force here\nnpm ERR! errno 1",
    "don't run the tests yet",
    "For now use npm instead of pnpm.",
    "Thanks, never mind.",
    "Why do you always use npm?",
    "Fix the test that never passes",
    'Add a banner that says "Always wear a helmet, not a cap".',
    "No, I'm fine with that.",
    "Sorry, I can't remember that",
    "As I said yesterday, remember that",
    "Do you remember that we deploy on Thursdays?",
    "Find the release notes, and remember that commit from yesterday",
    "In this commit, use the old endpoint instead of the new one.",
    "```\n# always use tabs\n```\nformat this please",
]
NO_RULE_EITHER = [
    "is it true that we never use npm here?",
    "use the second approach instead",
    "Let's use port 8081 for this test run, not 8080.",
    "The error says: never call this twice.",
    "can you explain why we always use pnpm?",
    "ok, continue",
    "It never worked, not even before.",
    'Rename the button to "Never show again", not "Hide".',
    "Please run it again, not in the background this time.",
    "I'd prefer to look at it tomorrow, thanks.",
    "WARN  never use eval\nWARN  always sanitize\nWARN  2 problems",
    "what if we always cached it?",
]


def rules(message):
    """Return what becomes a rule when the user answers with `message` after some work with npm."""
    said = [
        Event("s", 0, "user", "Run the tests of src/cart.py and fix what fails"),
        Event("s", 1, "assistant", "", tool="Bash", call="c1", input={"command": "npm test"}),
        Event("s", 2, "tool", "1 failed", tool="Bash", call="c1", failed=True),
        Event("s", 3, "assistant", "", tool="Edit", call="c2", input={"file_path": "src/cart.py"}),
        Event("s", 4, "tool", "ok", tool="Edit", call="c2", failed=False),
        Event("s", 5, "assistant", "I fixed the total."),
        Event("s", 6, "user", message),
    ]
    found = extract(said, datetime(2026, 1, 1, tzinfo=UTC))
    return [
        finding.content for finding in found if finding.source in (Source.USER_STATED, Source.USER_CORRECTED)
    ]


@pytest.mark.parametrize(("message", "rule"), SEEN + WRITTEN_LATER)
def test_what_the_user_states_is_a_plain_rule(message, rule):
    assert rules(message) == [rule]


@pytest.mark.parametrize("message", NO_RULE + NO_RULE_EITHER)
def test_other_messages_are_no_rules(message):
    assert rules(message) == []


def test_a_first_prompt_that_corrects_an_earlier_session_is_a_rule():
    [finding] = extract([Event("s1", 0, "user", "No, use pnpm, not npm")], datetime(2026, 7, 1, tzinfo=UTC))

    assert (finding.kind, finding.content) == ("preference", "Use pnpm, not npm.")
    assert finding.source is Source.USER_STATED


@pytest.mark.parametrize(
    "prompt",
    [
        "No, I mean the other file, not this one",
        "No, the build fails in CI, not locally",
        "No, use the second option, not the first",
        "no, use a smaller font for now, not this one",
        "No, put that back, not the other thing",
        "No, use the file I attached instead of the one in the repo",
        "No. Use the 2nd screenshot, not the first.",
        "No, put the cursor at line 40, not 14",
        "no, write a haiku about rain, not about snow",
        'No, write "use tabs, not spaces" on the banner',
    ],
)
def test_a_first_prompt_that_only_contradicts_is_none(prompt):
    assert extract([Event("s1", 0, "user", prompt)], datetime(2026, 7, 1, tzinfo=UTC)) == []


def test_a_task_after_the_choice_of_a_tool_is_no_part_of_the_rule():
    prompt = "No, use pnpm, not npm. Run the tests and put the output in out.txt."

    [finding] = extract([Event("s1", 0, "user", prompt)], datetime(2026, 7, 1, tzinfo=UTC))

    assert finding.content == "Use pnpm, not npm."


@pytest.mark.parametrize(
    ("prompt", "rule"),
    [
        ("This project uses tabs. Remember that.", "This project uses tabs."),
        ("Use uv for everything here, and remember that", "Use uv for everything here."),
    ],
)
def test_what_is_to_be_remembered_is_kept_without_the_reminder(prompt, rule):
    assert rules(prompt) == [rule]


@pytest.mark.parametrize(
    "prompt",
    [
        "If the user chooses dark mode, remember it.",
        "After the first login, remember this",
        "Rename foo to bar in utils.py. Don't forget that.",
        "Fix the login bug, and remember that",
        "The build is broken right now, keep that in mind.",
        "For the record, thanks a lot for your help",
        "For the future, we could add a cache",
    ],
)
def test_tasks_features_and_moments_are_not_remembered(prompt):
    assert rules(prompt) == []


def test_a_correction_with_a_reminder_is_still_a_correction():
    events = [
        Event("s1", 0, "assistant", "Done, I pushed it."),
        Event("s1", 1, "user", "Don't push to main. Remember that."),
    ]

    [finding] = extract(events, datetime(2026, 7, 1, tzinfo=UTC))

    assert finding.source is Source.USER_CORRECTED


@pytest.mark.parametrize(
    ("message", "rule"),
    [
        (
            "Only sync on a cable unless they press Now. mobile data is expensive",
            "Only sync on a cable unless they press Now.",
        ),
        ("no new state library, Zustand it is and stays", "No new state library, Zustand it is and stays."),
        (
            "Prices have to be rounded up, customers complained about half cents.",
            "Prices have to be rounded up, customers complained about half cents.",
        ),
        (
            "Photos have to be called <id>_<side>.jpg by the way, the scanner does that",
            "Photos have to be called <id>_<side>.jpg by the way, the scanner does that.",
        ),
        (
            "Mention Ida in the PR, she has to see every change of the forms",
            "Mention Ida in the PR, she has to see every change of the forms.",
        ),
    ],
)
def test_a_correction_with_its_reason_is_a_rule(message, rule):
    assert rules(message)[:1] == [rule]


@pytest.mark.parametrize(
    "message",
    [
        "Make the header blue, it has to match all the other pages",
        "The button should be on the left, then we are done",
        "Friday it is",
        "only change the header, leave the rest",
        "The build is red by the way, can you have a look?",
    ],
)
def test_an_order_for_the_work_at_hand_is_no_rule(message):
    assert rules(message) == []
