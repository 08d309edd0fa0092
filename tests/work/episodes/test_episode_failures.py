import pytest
from doings import Doings, watch

from recollect.work.episodes.failures import failure_of, is_about, similarity, specific_lines
from recollect.work.extract.outcomes import error_line

MISSING = "E   ModuleNotFoundError: No module named '{}'\n1 error in {}s"


def fixed(engine, command, output, session="s1", edits=(), runs=(), passes=None):
    """A command failed, this was done, and it passed."""
    doings = Doings().run(command, output, failed=True)
    for path in edits:
        doings.edit(path)
    for line in runs:
        doings.run(line)
    watch(engine, doings.run(passes or command, "ok"), session)
    engine.episodes.refresh()


@pytest.mark.parametrize(
    "one, other",
    [
        (
            "/home/ana/a.py:12: error: name 'total' is not defined",
            "/srv/x/b.py:931: error: name 'total' is not defined",
        ),
        (
            "Error: listen EADDRINUSE: address already in use :::3000",
            "Error: listen EADDRINUSE: address already in use :::8081",
        ),
        (
            "2026-01-04 10:11:12 ERROR: lock 0x7ffe12 held by worker",
            "2026-09-30T01:02:03Z ERROR: lock 0x11ab90 held by worker",
        ),
        (
            "fatal: could not read abcdef1234567 from 'origin'",
            "fatal: could not read 99ffee1122334 from 'origin'",
        ),
        ("E   TypeError: can't compare offset-naive and offset-aware datetimes",) * 2,
    ],
)
def test_paths_numbers_times_and_addresses_make_no_difference(one, other):
    assert similarity(failure_of(one), failure_of(other)) > 0.95


@pytest.mark.parametrize(
    "one, other",
    [
        (MISSING.format("redis", 1), MISSING.format("numpy", 1)),
        (
            "error TS2339: Property 'a1' does not exist on type 'Cart'.",
            "error TS2339: Property 'b2' does not exist on type 'User'.",
        ),
        ("AssertionError: assert 3 == 4", "AssertionError: assert 'x' in []"),
        ("KeyError: 'currency'", "KeyError: 'email'"),
    ],
)
def test_what_a_failure_speaks_of_makes_a_difference(one, other):
    assert similarity(failure_of(one), failure_of(other)) < 0.6


@pytest.mark.parametrize("output", ["", "\n\n", "=====\n-----", "Exit code 1", "x" * 5000])
def test_an_output_that_says_nothing_is_no_failure_to_know_again(output):
    assert failure_of(output) is None


def test_a_long_output_is_read_at_both_ends():
    noise = "progress 1 of 2\n" * 50_000

    assert specific_lines(f"{noise}ValueError: too late\n") == ["ValueError: too late"]


def test_no_secret_is_in_a_failure():
    secret = "ghp_" + "16C7e42F292c6912E7710c838347Ae178B4a"

    assert secret.lower() not in str(failure_of(f"fatal: could not read '{secret}'")).lower()


def test_what_mended_a_failure_is_offered_when_it_comes_again(engine):
    fixed(engine, "pytest -q tests/a.py", MISSING.format("redis", "0.4"), runs=["pip install redis"])

    (fix,) = engine.episodes.fixes_for(MISSING.format("redis", "7.1"), "pytest -q tests/b.py")

    assert fix.commands == ("pip install redis",)
    assert "passed after `pip install redis`" in fix.text
    assert fix.confidence > 0.6


def test_a_change_in_a_file_can_be_what_mended_it(engine):
    fixed(engine, "make test", "error: undefined reference to `flush'", edits=["src/ledger.c"])

    assert engine.episodes.fixes_for("error: undefined reference to `flush'")[0].files == ("src/ledger.c",)


def test_another_form_of_the_command_can_be_what_mended_it(engine):
    fixed(
        engine, "npm run build", "Error: digital envelope routines unsupported", passes="CI=1 npm run build"
    )

    assert (
        engine.episodes.fixes_for("Error: digital envelope routines unsupported")[0].instead
        == "CI=1 npm run build"
    )


def test_nothing_is_offered_for_a_failure_never_seen(engine):
    fixed(engine, "pytest -q", MISSING.format("redis", 1), runs=["pip install redis"])

    assert engine.episodes.fixes_for(MISSING.format("numpy", 1), "pytest -q") == []
    assert engine.episodes.fixes_for("all is well") == []
    assert engine.episodes.fixes_for("") == []


def test_a_command_that_passed_without_anything_done_teaches_nothing(engine):
    fixed(engine, "pytest -q", MISSING.format("redis", 1))

    assert engine.episodes.fixes_for(MISSING.format("redis", 1)) == []


def test_what_was_tried_before_it_failed_again_is_not_what_mended_it(engine):
    doings = Doings().run("make", "error: no rule for it", failed=True).edit("wrong.py")
    doings.run("make", "error: no rule for it", failed=True).edit("right.py").run("make", "ok")
    watch(engine, doings)
    engine.episodes.refresh()

    assert engine.episodes.fixes_for("error: no rule for it")[0].files == ("right.py",)


def test_looking_around_is_not_what_mended_it(engine):
    fixed(engine, "make", "error: no rule for it", runs=["ls -la", "git status"], edits=["a.mk"])

    assert engine.episodes.fixes_for("error: no rule for it")[0].commands == ()


def test_a_fix_seen_again_counts_more(engine):
    for number in range(3):
        fixed(engine, "make", "error: no rule for it", f"s{number}", edits=["a.mk"])

    (fix,) = engine.episodes.fixes_for("error: no rule for it")
    (pattern,) = engine.episodes.patterns("error-fix")

    assert (fix.count, pattern.count, pattern.confidence) == (3, 3, 0.75)
    assert pattern.first_seen <= pattern.last_seen


def test_a_session_told_again_does_not_count_again(engine):
    for _ in range(2):
        fixed(engine, "make", "error: no rule for it", edits=["a.mk"])
        engine.episodes._followed.clear()
        engine.store.set_setting(engine.episodes.owner.project_id, "episodes_seen", 0)

    engine.episodes.refresh()

    assert engine.episodes.patterns("error-fix")[0].count == 1


def test_a_failure_and_its_fix_may_come_in_different_refreshes(engine):
    doings = Doings().run("make", "error: no rule for it", failed=True)
    watch(engine, doings)
    engine.episodes.refresh()
    watch(engine, doings.edit("a.mk").run("make", "ok"))
    engine.episodes.refresh()

    assert engine.episodes.fixes_for("error: no rule for it")


def test_a_rename_through_several_files_is_a_pattern(engine, doings):
    for path in ("cart.py", "price.py", "tests/test_cart.py"):
        doings.edit(path, "x = grand_total(1)", "x = total(1)")
    watch(engine, doings)
    engine.episodes.refresh()

    (pattern,) = engine.episodes.patterns("refactor")

    assert pattern.data == {
        "rename": ["grand_total", "total"],
        "files": ["cart.py", "price.py", "tests/test_cart.py"],
    }
    assert pattern.count == 1


def test_files_edited_together_are_a_pattern(engine):
    engine.episodes.start_task("round the prices", session="s1")
    watch(engine, Doings().edit("cart.py").edit("price.py").edit("cart.py").edit("price.py"))
    engine.episodes.refresh()

    (pattern,) = engine.episodes.patterns("co-edit")

    assert pattern.data == {
        "files": ["cart.py", "price.py"],
        "operations": ["edit", "edit"],
        "within_seconds": 300,
    }
    assert pattern.count == 4


@pytest.mark.parametrize(
    "error, text",
    [
        (
            "connect ECONNREFUSED 127.0.0.1:5432",
            "Login tests fail with ECONNREFUSED 5432: start postgres first",
        ),
        (
            'shop/cart.py:33: error: "View" has no attribute "detect_fts"',
            "mypy: 'Table' has no attribute 'detect_fts' on View. Narrow with isinstance",
        ),
        (
            "ConnectionRefusedError: [Errno 111] Connection refused",
            "Connection refused on port 5432 means that docker is not running",
        ),
    ],
)
def test_a_text_in_ones_own_words_is_about_an_error_of_which_it_says_half(error, text):
    assert is_about(error, text)


_NO_MODULE = "error TS2307: Cannot find module '@shop/cart' or its corresponding type declarations."


@pytest.mark.parametrize(
    "error, text",
    [
        (_NO_MODULE, "TS2307 for @shop/cart: run `pnpm build` in packages/cart first."),
        (_NO_MODULE, "TS2307 after a pull: run `make`."),
        (
            "Error: listen EADDRINUSE: address already in use :::3000",
            "EADDRINUSE in the tests: kill the old dev server, it outlives the terminal.",
        ),
        (
            "error[E0425]: cannot find value `total` in this scope",
            "E0425 in generated code: build.rs is stale",
        ),
        ("ORA-01017: invalid username/password; logon denied", "ORA-01017 means an expired test account"),
        (
            'SQLSTATE[42P01]: Undefined table: 7 ERROR: relation "users" does not exist',
            "SQLSTATE 42P01 in CI: migrate before the tests",
        ),
    ],
)
def test_a_code_in_both_tells_that_a_text_is_about_an_error_however_long_the_line(error, text):
    assert is_about(error, text)


def test_a_quoted_name_in_both_tells_that_a_text_is_about_an_error_however_long_the_line():
    error = "Cannot find module '@shop/cart' or its corresponding type declarations in this workspace folder."

    assert is_about(error, "The module @shop/cart has to be built before anything else sees it.")
    assert not is_about(error, "The module @shop/cart-api has to be built before anything else sees it.")


@pytest.mark.parametrize(
    "error, text",
    [
        (_NO_MODULE, "TS2307 for @shop/pay: run `pnpm build` in packages/pay first."),
        (_NO_MODULE, "TS2322 in the forms: the field is optional, narrow it first"),
        (
            "error[E0425]: cannot find value `total` in this scope",
            "E0425 for `price`: import it from the prelude",
        ),
        ("ORA-01017: invalid username/password; logon denied", "ORA-12541: start the listener first"),
        (
            "Error: ENOENT: no such file or directory, open 'config.json'",
            "ENOENT in the build: make the folder dist first",
        ),
    ],
)
def test_another_code_or_the_same_code_of_something_else_tells_nothing(error, text):
    assert not is_about(error, text)


@pytest.mark.parametrize(
    "error, text",
    [
        ("sqlite3.OperationalError: no such table: dogs", "sqlite3.OperationalError: no such module: fts5"),
        (
            'error: "Database" has no attribute "id"',
            "mypy: 'Table' has no attribute 'detect_fts': did you narrow it?",
        ),
        ("npm ERR! missing script: build", "`make docs` failed: “missing file conf.py”."),
        ("AssertionError: assert 3 == 4", "AssertionError in test_cart: the clock is in UTC"),
    ],
)
def test_a_text_about_another_error_is_not_about_this_one(error, text):
    assert not is_about(error, text)


def test_the_label_that_gemini_puts_before_an_output_is_not_part_of_the_error():
    error = "RuntimeError: SPATIALITE is not set"

    labelled = f"<untrusted_context>\nOutput: {error}\nExit Code: 1\n</untrusted_context>"

    assert error_line(labelled) == error
    assert failure_of(labelled).lines[0] == failure_of(error).lines[0]
