"""Keeping the graph up to date, at the price of what changed."""

import contextlib
import marshal
import os
import shutil
import sqlite3
import subprocess
import sys
import threading
import time
import zlib
from collections import Counter

import pytest
from sources import edges, edges_anew, grow_old, write

from recollect.code.graph import build, parsing, scrub, workers
from recollect.code.graph.build import Builder
from recollect.code.graph.parsing import FileToParse, parse_files
from recollect.code.packing import unpack


def test_a_refresh_says_what_it_did(shop, code):
    (shop / "README.txt").write_text("Hello")

    done = code.refresh()

    assert (done.files, done.parsed, done.affected) == (3, 3, 3)
    assert done.left_out == {"not code": 1}
    assert done.complete


def test_what_has_not_changed_is_not_read_again(shop, code, open_code):
    grow_old(shop)
    code.refresh()

    again, elsewhere = code.refresh(), open_code().refresh()

    assert (again.parsed, again.affected) == (0, 0)
    assert (elsewhere.files, elsewhere.parsed, elsewhere.affected) == (3, 0, 0)


def test_another_process_does_not_list_the_files_again(shop, code, open_code, monkeypatch):
    (shop / "deep").mkdir()
    write(shop, **{"deep/till": "import cart\n"})
    grow_old(shop)
    code.refresh()
    read = []
    scan = os.scandir
    monkeypatch.setattr(os, "scandir", lambda path: read.append(path) or scan(path))

    later = open_code()
    later.refresh()

    assert read == []
    assert "deep/till.py" in later.graph.paths


def test_a_change_inside_a_function_costs_one_file(shop, code, tmp_path):
    code.refresh()
    text = (shop / "money.py").read_text()

    (shop / "money.py").write_text(
        text.replace("    return Money().plus(items)", "    print(1)\n    return Money().plus(items)")
    )
    done = code.refresh()

    assert (done.parsed, done.affected) == (1, 1)
    assert edges(code.graph) == edges_anew(shop, tmp_path)


def test_who_imports_what_changed_is_resolved_again(shop, code, tmp_path):
    code.refresh()

    (shop / "money.py").write_text("class Money: pass\n")
    done = code.refresh()

    assert done.parsed == 1
    assert code.graph.find("total") == ()
    assert not any(edge.target == "money.py::total" for each in edges(code.graph).values() for edge in each)
    assert edges(code.graph) == edges_anew(shop, tmp_path)


@pytest.mark.parametrize("warm", [True, False])
def test_files_come_and_go(shop, code, open_code, tmp_path, warm):
    code.refresh()
    write(
        shop,
        till="from cart import checkout\nfrom drawer import opened\n\ndef ring():\n    checkout()\n    opened()\n",
    )
    code.refresh()
    second = code if warm else open_code()

    write(shop, drawer="def opened(): pass\n")
    second.refresh()
    came = edges(second.graph)
    came_anew = edges_anew(shop, tmp_path)
    (shop / "cart.py").unlink()
    second.refresh()

    assert came == came_anew
    assert second.graph.callers("drawer.py::opened")
    assert second.graph.paths == ("drawer.py", "money.py", "page.py", "till.py")
    (tmp_path / "anew.db").unlink()
    assert edges(second.graph) == edges_anew(shop, tmp_path)


def test_the_same_size_at_the_same_moment_is_still_a_change(folder, code):
    moment = time.time_ns() + 60 * 10**9  # not yet over when we look, however slow the machine is
    write(folder, a="def one(): pass\n")
    os.utime(folder / "a.py", ns=(moment, moment))
    code.refresh()

    write(folder, a="def two(): pass\n")
    os.utime(folder / "a.py", ns=(moment, moment))
    code.refresh()

    assert code.graph.find("two")


def test_a_new_time_without_a_change_is_noted_and_costs_nothing(shop, code):
    grow_old(shop)
    code.refresh()

    os.utime(shop / "money.py", (1_100_000_000, 1_100_000_000))
    done = code.refresh()

    assert (done.parsed, done.affected) == (0, 0)


def test_a_moved_file_is_not_parsed_again(shop, code):
    code.refresh()

    (shop / "money.py").rename(shop / "coins.py")
    done = code.refresh()

    assert done.parsed == 0
    assert [symbol.id for symbol in code.graph.find("total")] == ["coins.py::total"]
    assert code.graph.callers("coins.py::total") == ()


def test_the_way_back_to_a_branch_costs_look_ups(shop, code):
    git = ["git", "-C", str(shop), "-c", "user.name=t", "-c", "user.email=t@t"]
    for command in (["init", "-q"], ["add", "."], ["commit", "-qm", "one"], ["checkout", "-qb", "other"]):
        subprocess.run([*git, *command], check=True)
    write(shop, money="class Money: pass\n", bank="def borrow(): pass\n")
    for command in (["add", "."], ["commit", "-qm", "two"]):
        subprocess.run([*git, *command], check=True)
    code.refresh()

    subprocess.run([*git, "checkout", "-q", "-"], check=True)
    there = code.refresh()
    subprocess.run([*git, "checkout", "-q", "other"], check=True)
    back = code.refresh()

    assert there.parsed == 1
    assert back.parsed == 0
    assert "bank.py" in code.graph.paths


def test_a_graph_that_was_handed_out_stays_as_it_was(shop, code):
    before = code.graph

    (shop / "money.py").unlink()
    code.refresh()

    assert before.find("total")
    assert not code.graph.find("total")


def test_the_same_text_twice_is_parsed_once(folder, code):
    write(folder, a="def f(): pass\n", b="def f(): pass\n")

    done = code.refresh()

    assert done.parsed == 1
    assert [symbol.id for symbol in code.graph.find("f")] == ["a.py::f", "b.py::f"]


def test_it_can_be_stopped_and_goes_on_where_it_was(folder, code):
    write(folder, **{f"m{number}": f"def f{number}(): pass\n" for number in range(20)})
    told = []

    stopped = code.refresh(
        progress=lambda done, total: told.append((done, total)), stop=lambda: len(told) >= 5
    )
    done = code.refresh()

    assert not stopped.complete
    assert told == [(number, 20) for number in range(1, 6)]
    assert done.parsed == 15
    assert done.files == 20


def test_progress_ends_at_the_total(shop, code):
    told = []

    code.refresh(progress=lambda done, total: told.append((done, total)))

    assert told[-1] == (3, 3)


def test_many_files_are_read_in_processes_of_their_own(folder, monkeypatch):
    write(folder, **{f"m{number}": f"def f{number}(): pass\n" for number in range(8)})
    monkeypatch.setattr(parsing, "FEW_FILES", 3)
    monkeypatch.setattr(workers, "cpu_count", lambda: 2)
    wanted = [FileToParse(f"m{number}.py", "python", 10) for number in range(8)]

    apart = dict(parse_files(folder, wanted))

    assert apart == {each: parsing.parse_file(folder, each.path, each.language) for each in wanted}


def test_a_process_that_dies_costs_the_file_it_died_over(folder, monkeypatch, tmp_path):
    write(folder, **{f"m{number}": f"def f{number}(): pass\n" for number in range(4)})
    monkeypatch.setattr(parsing, "FEW_FILES", 0)
    monkeypatch.setattr(workers, "cpu_count", lambda: 2)
    wanted = [
        FileToParse(f"m{number}.py", "python" if number else "no such language", 10) for number in range(4)
    ]

    found = {each.path: got.left_out for each, got in parse_files(folder, wanted)}

    assert found == {"m0.py": "broke the parser", "m1.py": None, "m2.py": None, "m3.py": None}


def test_what_a_dead_process_was_given_beside_is_read_by_the_next(folder, monkeypatch):
    count = 3 * parsing.BATCH + 1
    write(folder, **{f"m{number}": f"def f{number}(): pass\n" for number in range(count)})
    monkeypatch.setattr(parsing, "FEW_FILES", 0)
    monkeypatch.setattr(workers, "cpu_count", lambda: 2)
    wanted = [
        FileToParse(f"m{number}.py", "none" if number % 40 == 0 else "python", 10) for number in range(count)
    ]

    found = {each.path: got.left_out for each, got in parse_files(folder, wanted)}

    assert found.keys() == {each.path for each in wanted}
    assert {path for path, why in found.items() if why} == {f"m{number}.py" for number in range(0, count, 40)}


def test_a_file_that_takes_too_long_is_left_out(folder, monkeypatch):
    write(folder, slow="x = [1, 2, 3]\n" * 10_000)
    monkeypatch.setattr(parsing, "FEW_FILES", 0)
    monkeypatch.setattr(workers, "cpu_count", lambda: 2)
    monkeypatch.setattr(parsing, "CPU_SECONDS", 0.001)
    wanted = [FileToParse("slow.py", "python", 140_000)]

    found = [got.left_out for _, got in parse_files(folder, wanted)]

    assert found == ["took too long"]


def test_a_process_that_somebody_ends_costs_no_file(folder, monkeypatch):
    write(folder, **{f"m{number}": f"def f{number}(): pass\n" for number in range(200)})
    monkeypatch.setattr(parsing, "FEW_FILES", 0)
    monkeypatch.setattr(workers, "cpu_count", lambda: 2)
    begun = noted(monkeypatch)
    wanted = [FileToParse(f"m{number}.py", "python", 10) for number in range(200)]

    found = []
    for each, got in parse_files(folder, wanted):
        found.append((each, got.left_out))
        if len(found) == 5:
            begun[0].kill()

    assert sorted(found) == sorted((each, None) for each in wanted)


def test_a_file_that_a_process_died_over_is_not_read_here(folder, monkeypatch):
    write(folder, deadly="", other="")
    monkeypatch.setattr(parsing, "FEW_FILES", 0)
    monkeypatch.setattr(workers, "cpu_count", lambda: 2)
    begun = noted(monkeypatch, most=1)
    wanted = [FileToParse("deadly.py", "no such language", 20), FileToParse("other.py", "python", 10)]

    found = {each.path: got.left_out for each, got in parse_files(folder, wanted)}

    assert found == {"deadly.py": "broke the parser", "other.py": None}
    assert len(begun) == 1


def test_more_than_a_pipe_holds_may_be_given_and_answered_at_once(folder, monkeypatch):
    write(
        folder, long="".join(f"def f{number}(a): return g{number}(a).h{number}\n" for number in range(1000))
    )
    monkeypatch.setattr(parsing, "FEW_FILES", 0)
    monkeypatch.setattr(workers, "cpu_count", lambda: 2)
    wanted = [FileToParse("long.py", "python", 20)] * 16 + [
        FileToParse(f"{number:03000}", "python", 10) for number in range(100)
    ]

    found = Counter(got.left_out for _, got in parse_files(folder, wanted))

    assert found == {None: 16, "unreadable": 100}


def test_a_process_that_starts_while_it_is_stopped_is_ended(folder, monkeypatch):
    write(folder, **{f"m{number}": f"def f{number}(): pass\n" for number in range(200)})
    monkeypatch.setattr(parsing, "FEW_FILES", 0)
    monkeypatch.setattr(workers, "cpu_count", lambda: 2)
    stopped = threading.Event()
    begun = noted(monkeypatch, wait=stopped.wait)
    wanted = [FileToParse(f"m{number}.py", "python", 10) for number in range(200)]

    found = list(parse_files(folder, wanted, lambda: stopped.set() or True))

    assert found == []
    assert all(each.returncode for each in begun)


def noted(monkeypatch, most=100, wait=lambda: None):
    """The processes that are started from now on; no more than `most` can be."""
    begun = []
    started = workers.start_worker

    def start(module):
        wait()
        if len(begun) == most:
            raise OSError
        begun.append(started(module))
        return begun[-1]

    monkeypatch.setattr(workers, "start_worker", start)
    return begun


def test_without_processes_it_is_read_here(folder, monkeypatch):
    write(folder, a="def f(): pass\n", b="def g(): pass\n")
    monkeypatch.setattr(parsing, "FEW_FILES", 0)
    monkeypatch.setattr(workers, "cpu_count", lambda: 2)
    monkeypatch.setattr(sys, "executable", "/bin/false")
    wanted = [FileToParse(f"{name}.py", "python", 10) for name in "ab"]

    assert all(got.parse for _, got in parse_files(folder, wanted))


def test_two_at_once_both_end_right(shop, open_code, tmp_path):
    first, second = open_code(), open_code()
    first.refresh()
    second.refresh()

    write(shop, money="class Money: pass\n")
    first.refresh()
    write(shop, page="from cart import Cart\n\ndef show():\n    Cart()\n")
    second.refresh()
    first.refresh()

    expected = edges_anew(shop, tmp_path)
    assert edges(first.graph) == edges(second.graph) == edges(open_code().graph) == expected


def test_threads_may_ask_at_once(shop, code):
    seen = []
    threads = [threading.Thread(target=lambda: seen.append(len(code.graph.paths))) for _ in range(8)]

    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert seen == [3] * 8


def test_a_project_that_is_gone_has_no_files(shop, code):
    code.refresh()

    shutil.rmtree(shop)

    assert code.refresh().files == 0


def test_a_changed_go_mod_alone_leads_imports_elsewhere(folder, code, open_code):
    (folder / "coin").mkdir()
    (folder / "coin" / "coin.go").write_text("package coin\n\nfunc Toss() {}\n")
    (folder / "main.go").write_text(
        'package main\n\nimport "example.org/bank/coin"\n\nfunc main() { coin.Toss() }\n'
    )
    (folder / "go.mod").write_text("module example.org/shop\n")
    done = code.refresh()
    before = code.graph.callees("main.go::main")

    (folder / "go.mod").write_text("module example.org/bank\n")
    elsewhere = open_code()
    elsewhere.refresh()

    assert done.left_out == {"not code": 1}
    assert [edge.target for edge in before] == ["external:example.org/bank/coin.Toss"]
    assert [edge.target for edge in elsewhere.graph.callees("main.go::main")] == ["coin/coin.go::Toss"]
    assert elsewhere.refresh().affected == 0


def test_the_first_change_of_a_process_reads_only_what_it_has_to_do_with(shop, database, code, open_code):
    write(shop, apart="class Apart:\n    def stay(self): pass\n")
    code.refresh()
    code.close()
    with contextlib.closing(sqlite3.connect(database)) as connection, connection:
        connection.execute(
            "UPDATE parses SET rest = x'00' WHERE blob = (SELECT blob FROM files WHERE path = 'apart.py')"
        )

    write(shop, page="import cart\n\n\ndef show():\n    cart.checkout()\n    print(1)\n")
    done = open_code().refresh()

    assert (done.complete, done.parsed, done.affected) == (True, 1, 1)


def test_a_new_name_costs_only_the_files_that_have_that_very_word(shop, database, code, open_code):
    write(shop, apart="def paying(): pass\n\n\ndef pays(some):\n    some.paying()  # paid\n")
    code.refresh()
    code.close()
    with contextlib.closing(sqlite3.connect(database)) as connection, connection:
        connection.execute(
            "UPDATE parses SET rest = x'00' WHERE blob = (SELECT blob FROM files WHERE path = 'apart.py')"
        )

    write(shop, page="import cart\n\n\ndef show():\n    cart.checkout()\n\n\ndef pay(): pass\n")
    done = open_code().refresh()

    assert (done.complete, done.parsed) == (True, 1)


def test_a_word_beside_a_letter_that_is_no_ascii_is_found(folder, code, tmp_path):
    write(
        folder,
        till="class Till:\n    def öffnen(self): pass\n",
        page="from till import Till\n\n\ndef show():\n    Till().öffnen()\n",
    )
    code.refresh()

    write(folder, till="class Till:\n    pass\n")
    code.refresh()

    assert edges(code.graph) == edges_anew(folder, tmp_path)


def test_a_change_that_no_other_file_sees_reads_nobodys_imports(shop, database, code, open_code):
    code.refresh()
    code.close()
    with contextlib.closing(sqlite3.connect(database)) as connection, connection:
        ((digest,),) = connection.execute("SELECT value FROM notes WHERE name = 'digest python'")
        *names, _ = marshal.loads(digest)
        damaged = marshal.dumps((*names, b"no imports"))
        connection.execute(
            "UPDATE notes SET value = ?, checksum = ? WHERE name = 'digest python'",
            (damaged, zlib.crc32(damaged)),
        )

    write(shop, page="import cart\n\n\ndef show():\n    cart.checkout()\n    print(1)\n")
    done = open_code().refresh()

    assert (done.complete, done.parsed, done.affected) == (True, 1, 1)


def test_a_changed_file_is_searched_for_new_secrets_only(shop, code, monkeypatch):
    write(shop, page='def show():\n    """Needs key 1."""\n\n\ndef pay():\n    """Needs key 2."""\n')
    code.refresh()
    searched = []
    monkeypatch.setattr(scrub, "_redacted", lambda texts: searched.extend(texts) or {})

    write(shop, page='def show():\n    """Needs key 1."""\n\n\ndef pay():\n    """Needs key 3."""\n')
    code.refresh()

    assert searched == ["Needs key 3."]


def test_a_process_that_runs_long_keeps_the_digest_new(
    shop, database, code, open_code, monkeypatch, tmp_path
):
    monkeypatch.setattr(build, "_MOST_STALE", 1)
    code.refresh()
    for name in ("some", "other", "third"):
        write(
            shop, **{name: f"from money import Money\n\n\ndef spend_{name}(some: Money):\n    some.plus(1)\n"}
        )
        code.refresh()

    with contextlib.closing(sqlite3.connect(database)) as connection:
        ((stale,),) = connection.execute("SELECT value FROM notes WHERE name = 'stale python'")
    write(shop, cart="from money import Money\n\n\ndef spend(): pass\n")
    later = open_code()
    later.refresh()

    assert len(unpack(stale)) == 1
    assert edges(later.graph) == edges_anew(shop, tmp_path)


def test_a_digest_that_others_have_outrun_is_brought_up_to_date(shop, code, open_code, tmp_path):
    code.refresh()

    write(shop, money="class Money:\n    def minus(self, other): pass\n")
    open_code().refresh()
    write(shop, purse="from money import Money\n\n\ndef spend(some: Money):\n    some.minus(1)\n")
    open_code().refresh()
    (shop / "cart.py").unlink()
    last = open_code()
    last.refresh()

    assert edges(last.graph) == edges_anew(shop, tmp_path)


def test_what_another_process_removed_during_a_refresh_is_parsed_again(shop, code, monkeypatch):
    invalidate = Builder._invalidate
    attempts = []

    def invalidate_without_parses(self, fresh, gone):
        affected = invalidate(self, fresh, gone)
        if not attempts:
            self._database._connection.execute("DELETE FROM parses")
        attempts.append(len(fresh))
        return affected

    monkeypatch.setattr(Builder, "_invalidate", invalidate_without_parses)

    done = code.refresh()

    assert attempts == [3, 3]
    assert (done.files, done.parsed, done.complete) == (3, 3, True)
    assert code.graph.find("Cart.pay")
