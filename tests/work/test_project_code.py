"""The code of a project together with the work done on it."""

import pytest

from recollect.code.graph.graph import CodeGraph

TASK = "Vouchers expire too early"


@pytest.fixture
def edited(engine, folder):
    """A file without a word of the task, which a similar task edited before."""
    (folder / "lib.py").write_text("def helper(value):\n    return value\n")
    (folder / "other.py").write_text("def unrelated():\n    return 1\n")
    engine.episodes.start_task("Support vouchers that expire", session="s1")
    engine.episodes.record("Edit", {"file_path": "lib.py"}, session="s1", files=[("lib.py", "edit")])
    engine.episodes.flush()
    engine.episodes.finish_task(outcome="done")
    return "lib.py"


def test_engine_and_its_code_part_rank_files_of_similar_past_tasks_alike(engine, edited):
    by_engine = engine.relevant(TASK)
    by_part = engine.code.relevant(TASK)

    assert [hit.path for hit in by_engine.files] == [edited]
    assert by_part.files == by_engine.files


def test_files_to_show_come_from_what_was_prepared_and_do_not_wait(engine, folder):
    (folder / "vouchers.py").write_text("def expire_voucher(voucher):\n    return voucher.early\n")
    engine.codebase.refresh()
    asked = "expire_voucher in vouchers.py is called too early"

    assert engine.code.files_to_show(asked) == ()
    engine.code.follow(0.0, lambda: False)
    (file,) = engine.code.files_to_show(asked)

    assert (file.path, file.symbols) == ("vouchers.py", ("expire_voucher",))
    assert engine.code.files_to_show("thanks, that is all") == ()


def test_files_to_show_are_prepared_if_the_caller_can_wait(engine, folder):
    (folder / "vouchers.py").write_text("def expire_voucher(voucher):\n    return voucher.early\n")
    engine.codebase.refresh()

    shown = engine.code.files_to_show("expire_voucher in vouchers.py is called too early", wait=True)

    assert [file.path for file in shown] == ["vouchers.py"]


def test_what_was_stopped_goes_on_when_nothing_else_waits(engine, folder, monkeypatch):
    (folder / "vouchers.py").write_text("def expire_voucher(voucher):\n    return voucher.early\n")
    engine.codebase.refresh()

    with monkeypatch.context() as patched:
        patched.setattr(CodeGraph, "resolve", lambda self, stop: False)  # it was told to stop
        engine.code.follow(0.0, lambda: False)
    was_prepared = engine.codebase.is_prepared
    engine.code.follow(0.1, lambda: False)

    assert not was_prepared
    assert engine.codebase.is_prepared
