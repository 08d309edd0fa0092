"""What every store must do with sessions and work: events, findings, messages, episodes, costs, figures, pruned texts."""

from dataclasses import replace
from datetime import timedelta

import pytest

import recollect.model as m
from samples import MINE, NOW, keep, memory, unit

OWNER = m.Owner("ada", "shop")
LATER = NOW + timedelta(hours=1)
DAY = timedelta(days=1)


def session(name="s1", **fields):
    return m.Session(**{"id": name, "user_id": "ada", "project_id": "shop", "started_at": NOW, **fields})


def finding(name, content="Tests need Redis.", **fields):
    return m.Finding(
        name, fields.pop("session", "s1"), m.fingerprint(content), "fact", content, NOW, **fields
    )


def message(order, text="Hello.", **fields):
    values = {"session": "s1", "author": "user", "created_at": NOW, "user_id": "ada", "project_id": "shop"}
    return m.Message(**{**values, **fields}, order=order, text=text)


def execution(key, tool="Bash", **fields):
    return m.ToolExecution(key, fields.pop("at", NOW), "s1", tool, {"command": "make"}, True, **fields)


def touch(key, path="src/cart.py", operation=m.FileOperation.EDIT, **fields):
    return m.FileTouch(key, fields.pop("at", NOW), fields.pop("session", "s1"), path, operation, **fields)


def call(name, **fields):
    values = {"user_id": "ada", "at": NOW, "place": "server", "purpose": "extract"}
    return m.LlmCall(**{**values, "tokens_in": 10, "tokens_out": 5, "micros": 3, **fields}, id=name)


def pruned(name, text="The till prints twice.", **fields):
    return m.PrunedText(name, fields.get("session", "s1"), None, fields.get("at", NOW), text[:20], text, 10)


def delivery(name, **fields):
    values = {"user_id": "ada", "project_id": "shop", "session": "s1", "moment": "prompt", "host": "codex"}
    return m.DeliveryRecord(**{**values, "at": NOW, "tokens": 2, "text": "Told.", **fields}, id=name)


class EventContract:
    def test_events_are_appended_once_and_in_order(self, store):
        store.put_session(session())
        first, second = m.StoredEvent("e1", NOW, '"one"'), m.StoredEvent("e2", LATER, '"two"')

        assert store.events.append("s1", [first]) == 1
        assert store.events.append("s1", [first, second]) == 1

        assert store.events.unprocessed("s1") == [(0, '"one"'), (1, '"two"')]
        assert store.get_session("s1").active_at == LATER

    def test_a_processed_event_is_not_returned_and_not_counted_again(self, store):
        store.put_session(session())
        store.events.append("s1", [m.StoredEvent("e1", NOW, '"one"'), m.StoredEvent("e2", NOW, '"two"')])

        store.events.mark_processed("s1", 0)

        assert store.events.unprocessed("s1") == [(1, '"two"')]
        assert store.events.append("s1", [m.StoredEvent("e1", NOW, '"one"')]) == 0

    def test_old_processed_events_are_dropped_except_the_last(self, store):
        store.put_session(session())
        store.events.append("s1", [m.StoredEvent(f"e{number}", NOW, "1") for number in range(3)])
        assert store.events.drop_processed(LATER) == 0
        store.events.mark_processed("s1", 2)

        assert store.events.drop_processed(NOW) == 0
        assert store.events.drop_processed(LATER) == 2
        store.events.append("s1", [m.StoredEvent("new", LATER, "2")])

        assert store.events.unprocessed("s1") == [(3, "2")]

    def test_idle_sessions_are_those_not_learned_from_oldest_first(self, store):
        store.put_session(session("new", started_at=NOW, active_at=NOW))
        store.put_session(session("old", started_at=NOW - DAY, active_at=NOW - DAY))
        store.put_session(session("done", started_at=NOW - DAY, extracted_at=NOW))
        store.put_session(session("active", started_at=NOW - DAY, active_at=LATER))
        store.put_session(session("other", started_at=NOW - DAY, project_id="bank"))

        idle = store.events.idle_sessions("ada", "shop", NOW + timedelta(minutes=1))

        assert [each.id for each in idle] == ["old", "new"]
        assert store.events.idle_sessions("eve", "shop", LATER) == []

    def test_findings_are_stored_once_per_session(self, store):
        store.put_session(session())
        first = finding("f1", messages=(0, 1))

        assert store.events.put_findings("s1", [first, finding("f2")]) == 1

        assert store.findings("s1") == [first]

    def test_findings_since_a_message_replace_those_that_were_not_promoted(self, store):
        store.put_session(session())
        early, stale, promoted = (
            finding("f1", "Early.", messages=(0, 1)),
            finding("f2", "Stale.", messages=(4, 5)),
            finding("f3", "Promoted.", messages=(4, 5)),
        )
        store.events.put_findings("s1", [early, stale, promoted])
        store.events.mark_promoted("f3", "memory")

        store.events.put_findings("s1", [finding("f4", "New.", messages=(4, 6))], since=3)

        assert {each.id for each in store.findings("s1")} == {"f1", "f3", "f4"}
        assert {each.id: each.promoted_to for each in store.findings("s1")}["f3"] == "memory"

    def test_sightings_count_sessions_and_agents_of_the_project(self, store):
        for name, agent, parent in (("s1", "a", None), ("s2", "b", None), ("fork", "a", "s1")):
            store.put_session(session(name, agent=agent, parent=parent))
            store.put_finding(finding(f"in {name}", session=name))
        mark = m.fingerprint("Tests need Redis.")

        assert store.events.count_sightings("ada", "shop", mark) == (2, 2)
        assert store.events.count_sightings("ada", "bank", mark) == (0, 0)
        assert store.events.count_sightings("eve", "shop", mark) == (0, 0)


class MessageContract:
    def test_messages_come_back_in_order(self, store):
        store.messages.put([message(1, "Two."), message(0, "One."), message(2, "Three.")], None, None)

        assert [each.text for each in store.messages.session("ada", "s1")] == ["One.", "Two.", "Three."]
        assert store.messages.span("ada", "s1", 1, 2) == [message(1, "Two."), message(2, "Three.")]
        assert store.messages.orders("ada", "s1") == {0, 1, 2}
        assert store.messages.session("eve", "s1") == []
        assert list(store.messages.iterate(MINE)) == store.messages.session("ada", "s1")

    def test_a_message_with_the_same_place_is_replaced(self, store):
        store.messages.put([message(0, "One.")], "fake", [unit(1, 0)])
        _, purge = store.messages.state()

        store.messages.put([message(0, "Other.")], "fake", [unit(0, 1)])

        [row] = store.messages.after(0, "fake")
        assert (row.message.text, row.vector) == ("Other.", unit(0, 1))
        assert store.messages.state()[1] > purge

    def test_new_messages_are_read_after_a_number_with_their_vectors(self, store):
        store.messages.put([message(0, "One.")], "fake", [unit(1, 0)])
        seq, purge = store.messages.state()
        [first] = store.messages.after(0, "fake")

        store.messages.put([message(1, "Two.")], None, None)

        [second] = store.messages.after(first.num, "fake")
        assert (second.message.text, second.vector) == ("Two.", None)
        assert store.messages.state() == (seq + 1, purge)
        store.messages.put_vector(second.num, "fake", unit(0, 1))
        assert [row.vector for row in store.messages.after(0, "fake")] == [unit(1, 0), unit(0, 1)]
        assert [row.vector for row in store.messages.after(0, "other")] == [None, None]
        assert store.messages.state()[1] > purge

    def test_messages_are_counted_by_project_and_dropped_by_age(self, store):
        store.messages.put([message(0)], None, None, NOW)
        store.messages.put([message(1, project_id=None)], None, None, LATER)
        assert store.messages.count("ada", "shop") == 1
        assert store.messages.count("ada", None) == 1

        assert store.messages.drop_before(NOW) == 0
        assert store.messages.drop_before(LATER) == 1

        assert store.messages.orders("ada", "s1") == {1}


class EpisodeContract:
    def test_executions_and_touches_are_added_once(self, store):
        assert store.episodes.add(OWNER, [execution("x1"), execution("x2")], [touch("f1")]) == 2
        assert store.episodes.add(OWNER, [execution("x2"), execution("x3")], [touch("f1")]) == 1

        assert [each.key for each in store.episodes.executions(OWNER, limit=9)] == ["x1", "x2", "x3"]
        assert [each.key for each in store.episodes.touches(OWNER)] == ["f1"]
        assert store.episodes.executions(m.Owner("eve", "shop"), limit=9) == []
        assert store.episodes.size() == 4

    def test_executions_are_read_forward_and_backward(self, store):
        store.episodes.add(OWNER, [execution(f"x{number}", task="t") for number in range(4)], [])
        first, *_, last = store.episodes.executions(OWNER, session="s1", task="t", limit=9)

        after = store.episodes.executions(OWNER, after=first.id, limit=2)
        before = store.episodes.executions(OWNER, before=last.id, limit=2)

        assert [each.key for each in after] == ["x1", "x2"]
        assert [each.key for each in before] == ["x1", "x2"]
        assert store.episodes.executions(OWNER, session="s2", limit=9) == []

    def test_touches_are_found_by_path_name_task_and_session(self, store):
        store.episodes.add(
            OWNER,
            [],
            [
                touch("f1", "src/cart.py", at=NOW),
                touch("f2", "src/till.py", at=LATER, task="t", lines=(1, 9)),
                touch("f3", "src/100%.py", session="s2", operation=m.FileOperation.READ),
            ],
        )

        def keys(**which):
            return [each.key for each in store.episodes.touches(OWNER, **which)]

        assert keys(path="src/cart.py") == ["f1"]
        assert keys(like="till") == ["f2"]
        assert keys(like="100%") == ["f3"]
        assert keys(task="t") == ["f2"]
        assert keys(session="s2") == ["f3"]
        assert keys(limit=1) == ["f2"]
        assert store.episodes.paths_ending(OWNER, "till.py") == ["src/till.py"]
        assert store.episodes.touches(OWNER, task="t")[0].lines == (1, 9)

    def test_a_file_total_counts_reads_and_edits(self, store):
        store.episodes.add(
            OWNER,
            [],
            [touch("f1"), touch("f2", operation=m.FileOperation.READ, at=LATER), touch("f3", "other.py")],
        )

        assert store.episodes.total(OWNER, "src/cart.py") == m.FileTotal(1, 1, LATER)
        assert store.episodes.total(OWNER, "unknown.py") == m.FileTotal()

    def test_a_session_has_one_active_task(self, store):
        first, second = m.Task("t1", "s1", "Fix the cart", NOW), m.Task("t2", "s1", "Fix the till", LATER)
        assert store.episodes.start(OWNER, first, "fix cart")
        assert store.episodes.start(OWNER, second, "fix till")
        assert not store.episodes.start(OWNER, second, "fix till")

        assert store.episodes.active(OWNER, "s1").id == "t2"
        assert store.episodes.task(OWNER, "t1").status is m.TaskStatus.PAUSED

        store.episodes.update(OWNER, replace(first, status=m.TaskStatus.ACTIVE, intent=m.TaskIntent.FIXING))

        assert store.episodes.active(OWNER, "s1").id == "t1"
        assert store.episodes.task(OWNER, "t1").intent is m.TaskIntent.FIXING
        assert [each.id for each in store.episodes.tasks(OWNER)] == ["t2", "t1"]
        assert [each.id for each in store.episodes.tasks(OWNER, [m.TaskStatus.PAUSED])] == ["t2"]

    def test_a_task_of_a_person_is_active_in_any_session(self, store):
        store.episodes.start(OWNER, m.Task("t1", "", "Whatever comes", NOW), "whatever")

        assert store.episodes.active(OWNER, "s9").id == "t1"
        assert store.episodes.active(m.Owner("eve", "shop"), "s9") is None

    def test_a_task_remembers_its_tools_and_files(self, store):
        store.episodes.start(OWNER, m.Task("t1", "s1", "Fix the cart", NOW), "fix cart")

        store.episodes.add(
            OWNER, [execution("x1", task="t1"), execution("x2", task="t1")], [touch("f1", task="t1")]
        )

        task = store.episodes.task(OWNER, "t1")
        assert (task.files, task.tools) == (("src/cart.py",), {"Bash": 2})
        assert store.episodes.task(OWNER, str(task.number)) == task
        assert store.episodes.tasks_numbered(OWNER, [task.number, 99]) == [task]

    def test_tasks_are_found_by_words_and_by_vectors(self, store):
        for name, words in (("t1", "fix cart"), ("t2", "fix till")):
            store.episodes.start(OWNER, m.Task(name, "s1", words, NOW), words)
        one, two = (store.episodes.task(OWNER, name).number for name in ("t1", "t2"))

        assert store.episodes.tasks_with(OWNER, ["cart"]) == (2, [(one, "fix cart")])
        assert store.episodes.tasks_with(OWNER, []) == (2, [])
        assert store.episodes.without_vector(OWNER, "fake", 9) == [(two, "fix till"), (one, "fix cart")]
        store.episodes.put_vectors("fake", [(one, unit(1, 0)), (999, unit(0, 1))])
        assert store.episodes.without_vector(OWNER, "fake", 9) == [(two, "fix till")]
        assert store.episodes.task_vectors(OWNER, "fake") == ([one], unit(1, 0))

    def test_a_snapshot_is_stored_as_a_row(self, store):
        number = store.episodes.put_snapshot(OWNER, "s1", NOW, [{"id": "a"}], 100, [], "pruning", "t1")

        names = ("id", "reason", "total_tokens", "context_items")
        [columns] = store.episodes.columns("context_snapshots", names, "ada", "shop")
        assert columns == [(number,), ("pruning",), (100,), ('[{"id":"a"}]',)]

    def test_snapshots_of_a_session_are_returned_in_order(self, store):
        for session, tokens in (("s1", 100), ("s2", 5), ("s1", 200), ("s1", 300)):
            store.episodes.put_snapshot(
                OWNER, session, NOW, [{"id": "a"}], tokens, [{"id": "b"}], "why", "t1"
            )

        found = store.episodes.snapshots(OWNER, "s1", 2)

        assert [snapshot.total_tokens for snapshot in found] == [200, 300]
        assert (found[0].items, found[0].pruned) == (({"id": "a"},), ({"id": "b"},))
        assert (found[0].at, found[0].reason, found[0].task) == (NOW, "why", "t1")
        assert store.episodes.snapshots(m.Owner("eve", "shop"), "s1") == []

    def test_a_pattern_is_counted_once_for_each_key(self, store):
        for key, files in (("k1", 1), ("k1", 2), ("k2", 3)):
            store.episodes.add_sighting(
                OWNER, m.PatternSighting("co-edit", "a + b", {"files": files}, key, NOW)
            )

        [pattern] = store.episodes.patterns(OWNER, "co-edit")
        assert (pattern.count, pattern.data) == (2, {"files": 3})
        assert pattern.confidence == pytest.approx(2 / 3)
        assert store.episodes.patterns(OWNER, "workflow") == []

    def test_patterns_that_are_counted_anew_replace_each_other_by_name(self, store):
        def pattern(name, count):
            return m.Pattern("workflow", name, {"steps": []}, 0.5, count, NOW, LATER)

        store.episodes.put_patterns(OWNER, "workflow", [pattern("a", 2), pattern("b", 3)])
        store.episodes.put_patterns(OWNER, "workflow", [pattern("a", 5)])

        assert [(each.name, each.count) for each in store.episodes.patterns(OWNER)] == [("a", 5), ("b", 3)]
        assert [each.name for each in store.episodes.patterns(OWNER, limit=1)] == ["a"]

    def test_a_learning_replaces_one_with_its_name(self, store):
        learning = m.SessionLearning("workflow", "edit, test", {"times": 2}, 0.5, "s1")
        store.episodes.put_learning(OWNER, learning)

        store.episodes.put_learning(OWNER, replace(learning, confidence=0.9, session="s2"))

        assert store.episodes.learnings(OWNER) == [replace(learning, confidence=0.9, session="s2")]
        assert store.episodes.learnings(OWNER, "common_error") == []

    def test_columns_come_for_one_project_or_all(self, store):
        store.episodes.add(OWNER, [execution("x1")], [])
        store.episodes.add(m.Owner("ada", "bank"), [execution("x2")], [])
        store.episodes.add(m.Owner("eve", "shop"), [execution("x3")], [])

        def tools(project):
            pages = store.episodes.columns("tool_executions", ("project_id",), "ada", project)
            return [value for [column] in pages for value in column]

        assert tools(None) == ["shop", "bank"]
        assert tools("bank") == ["bank"]

    def test_tools_are_counted_by_name_and_by_day(self, store):
        failed = replace(execution("x2", at=NOW + DAY), success=False)
        store.episodes.add(OWNER, [execution("x1", duration_ms=40), failed], [])
        store.episodes.add(m.Owner("eve", "shop"), [execution("x3")], [])

        assert store.episodes.tool_use(OWNER, NOW) == [("Bash", 2, 1, 1, 40)]
        assert store.episodes.tool_use(OWNER, NOW + DAY) == [("Bash", 1, 0, 0, 0)]
        days = [(str(NOW.date()), 1, 0), (str((NOW + DAY).date()), 0, 1)]
        assert store.episodes.tool_days(OWNER, NOW) == days

    def test_files_edited_in_one_task_within_the_time_are_counted_in_pairs(self, store):
        def edit(key, path, minutes, task="t1"):
            at = NOW + timedelta(minutes=minutes)
            return touch(key, path, at=at, task=task)

        edits = [edit("1", "a.py", 0), edit("2", "b.py", 5), edit("3", "b.py", 6), edit("4", "c.py", 1, "t2")]
        store.episodes.add(OWNER, [], edits)
        store.episodes.add(m.Owner("eve", "shop"), [], [edit("5", "b.py", 1)])
        limits = timedelta(minutes=5), 1

        pair = m.CoEdit(("a.py", "b.py"), 1, NOW, NOW + timedelta(minutes=5))
        assert store.episodes.co_edits(OWNER, *limits, None, 9) == [pair]
        assert store.episodes.co_edits(OWNER, *limits, "b.py", 9) == [pair]
        assert store.episodes.co_edits(OWNER, *limits, "c.py", 9) == []
        assert store.episodes.co_edits(OWNER, *limits, None, 0) == []
        assert store.episodes.co_edits(OWNER, timedelta(minutes=5), 2, None, 9) == []

    def test_old_rows_are_rolled_up_into_sums(self, store):
        store.episodes.add(
            OWNER, [execution("x1", duration_ms=40), execution("x2", at=NOW + DAY)], [touch("f1")]
        )
        assert store.episodes.time_of_row(0) == NOW
        assert store.episodes.time_of_row(2) == NOW + DAY
        assert store.episodes.time_of_row(3) is None

        assert store.episodes.roll_up(NOW) == 0
        assert store.episodes.roll_up(LATER) == 2

        assert store.episodes.size() == 1
        assert store.episodes.tool_use(OWNER, NOW - DAY) == [("Bash", 2, 2, 1, 40)]
        assert store.episodes.tool_days(OWNER, NOW - DAY) == [(str((NOW + DAY).date()), 1, 0)]
        assert store.episodes.total(OWNER, "src/cart.py") == m.FileTotal(0, 1, NOW)


class LedgerContract:
    def test_a_call_is_entered_only_within_the_cap(self, store, open_store_as):
        cap = m.SpendingCap(NOW - DAY, tokens=40, micros=100)

        assert store.ledger.enter(call("c1"), cap)
        assert store.ledger.enter(call("c2"), cap)
        assert not store.ledger.enter(call("c3"), cap)
        assert not store.ledger.enter(call("c4", tokens_in=0, tokens_out=0, micros=95), cap)
        assert open_store_as("eve").ledger.enter(call("c5", user_id="eve"), cap)

        assert [each.id for each in store.ledger.since("ada", NOW)] == ["c1", "c2"]
        assert store.ledger.since("ada", LATER) == []

    def test_a_finished_call_counts_with_what_it_cost(self, store):
        cap = m.SpendingCap(NOW - DAY, tokens=15, micros=100)
        store.ledger.enter(call("c1"), cap)
        done = replace(call("c1"), tokens_in=1, tokens_out=1, micros=1, outcome=m.CallOutcome.ANSWERED)

        store.ledger.finish(done)

        assert store.ledger.since("ada", NOW) == [done]
        assert store.ledger.enter(call("c2", tokens_in=3), cap)

    def test_failures_are_counted_since_the_last_answer(self, store):
        cap = m.SpendingCap(NOW - DAY, tokens=1000, micros=1000)
        outcomes = [
            m.CallOutcome.SILENT,
            m.CallOutcome.ANSWERED,
            m.CallOutcome.MALFORMED,
            m.CallOutcome.SILENT,
        ]
        for number, outcome in enumerate(outcomes):
            made = call(f"c{number}", at=NOW + number * DAY)
            store.ledger.enter(made, cap)
            store.ledger.finish(replace(made, outcome=outcome))
        store.ledger.enter(call("under way", at=NOW + 9 * DAY), cap)

        assert store.ledger.failures("ada", "server") == (2, NOW + 3 * DAY)
        assert store.ledger.failures("ada", "elsewhere") == (0, None)


class MeasureContract:
    def test_figures_are_added_or_set(self, store):
        store.measures.add("ada", "shop", "s1", {"searches": 2, "hits": 1}, NOW)
        store.measures.add("ada", "shop", "s1", {"searches": 3}, NOW)
        store.measures.set("ada", "shop", "s1", {"hits": 7}, NOW)

        assert store.measures.by_session("ada", "shop") == {"s1": {"searches": 5, "hits": 7}}
        assert store.measures.by_session("eve", "shop") == {}

    def test_figures_are_summed_by_session_and_project(self, store):
        store.measures.add("ada", "shop", "s2", {"searches": 1}, LATER)
        store.measures.add("ada", "shop", "s1", {"searches": 2}, NOW)
        store.measures.add("ada", "shop", "", {"searches": 4}, NOW)
        store.measures.add("ada", None, "s3", {"searches": 8}, NOW)

        by_session = store.measures.by_session("ada", "shop")
        assert list(by_session.items()) == [("s1", {"searches": 2}), ("s2", {"searches": 1})]
        assert store.measures.totals("ada", "shop") == {"searches": 7}
        assert store.measures.totals("ada") == {"searches": 8}
        assert store.measures.totals("ada", everywhere=True) == {"searches": 15}

    def test_timings_are_counted_by_day_and_size(self, store):
        store.measures.add_timings("ada", "shop", "2026-01-01", {("search", 80): 2, ("write", 90): 1})
        store.measures.add_timings("ada", "shop", "2026-01-02", {("search", 80): 1})
        store.measures.add_timings("ada", None, "2026-01-02", {("search", 80): 5})

        assert store.measures.timings("ada", "shop", "2026-01-01") == {
            "search": {"2026-01-01": {80: 2}, "2026-01-02": {80: 1}},
            "write": {"2026-01-01": {90: 1}},
        }
        assert store.measures.timings("ada", "shop", "2026-01-02", everywhere=True) == {
            "search": {"2026-01-02": {80: 6}}
        }

    def test_old_figures_are_forgotten(self, store):
        store.measures.add("ada", "shop", "s1", {"searches": 2}, NOW)
        store.measures.add_timings("ada", "shop", "2026-01-01", {("search", 80): 2})

        store.measures.forget_before(NOW)
        assert store.measures.by_session("ada", "shop") == {"s1": {"searches": 2}}

        store.measures.forget_before(NOW + DAY)
        assert store.measures.totals("ada", "shop") == {}
        assert store.measures.timings("ada", "shop", "2026-01-01") == {}


class PrunedTextContract:
    def test_a_pruned_text_is_found_by_id_by_its_end_and_by_words(self, store):
        first, second = pruned("0abc123xyz789"), pruned("0abc123xyz000", "The cart is empty.", session="s2")
        store.pruned.put("ada", "shop", [first, second])

        assert store.pruned.get("ada", "0abc123xyz789") == first
        assert store.pruned.get("ada", "xyz789", "s1") == first
        assert store.pruned.get("ada", "xyz789", "s2") is None
        assert store.pruned.get("eve", "xyz789") is None
        assert store.pruned.get_in_project("ada", "shop", "xyz000") == second
        assert store.pruned.get_in_project("ada", None, "xyz000") is None
        assert store.pruned.find("ada", "s1", "what prints the till", 5) == [first]
        assert store.pruned.find("ada", "s1", "cart", 5) == []

    def test_a_pruned_text_is_replaced_and_dropped_by_age(self, store):
        store.pruned.put("ada", "shop", [pruned("0abc123xyz789")])

        store.pruned.put("ada", "shop", [pruned("0abc123xyz789", "Another text.")])

        assert store.pruned.find("ada", "s1", "till", 5) == []
        assert store.pruned.drop_before(NOW) == 0
        assert store.pruned.drop_before(LATER) == 1
        assert store.pruned.get("ada", "0abc123xyz789") is None

    def test_a_window_is_saved_item_by_item(self, store):
        store.pruned.save_window("ada", "shop", "s1", NOW, {"b": (1, {"id": "b"}), "a": (0, {"id": "a"})}, [])

        store.pruned.save_window("ada", "shop", "s1", NOW, {"c": (2, {"id": "c"})}, ["a"])

        assert store.pruned.window("ada", "s1") == [{"id": "b"}, {"id": "c"}]
        assert store.pruned.window("eve", "s1") == []
        store.pruned.drop_before(LATER)
        assert store.pruned.window("ada", "s1") == []


class DeliveryContract:
    def test_what_a_session_was_told_is_returned_in_order_and_stored_once(self, store):
        first = delivery(
            "d1", items=(m.ShownItem("m1", "always"), m.ShownItem("file src/cart.py", "files", 0.7))
        )
        second, other = delivery("d2", at=LATER), delivery("d3", session="s2", at=LATER)
        store.deliveries.put([first, second, other])

        store.deliveries.put([first._replace(text="Changed.")])

        assert store.deliveries.of_session("ada", "s1") == [first, second]
        assert store.deliveries.of_session("eve", "s1") == []
        assert store.deliveries.newest("ada", "shop", 2) == [other, second]
        assert store.deliveries.newest("ada", None, 2) == []

    def test_what_was_told_is_found_by_an_item(self, store):
        item = m.ShownItem("m1", "task")
        first, other, last = (
            delivery("d1", items=(item,)),
            delivery("d2", items=(m.ShownItem("m2", "task"),)),
            delivery("d3", session="s2", at=LATER, items=(m.ShownItem("m2", "task"), item)),
        )
        store.deliveries.put([first, other, last])

        assert store.deliveries.of_item("ada", "m1", 9) == [last, first]
        assert store.deliveries.of_item("ada", "m1", 1) == [last]
        assert store.deliveries.of_item("eve", "m1", 9) == []

    def test_use_is_noted_once_for_the_items_of_a_session(self, store):
        items = (m.ShownItem("m1", "task", 0.6), m.ShownItem("m2", "task", 0.5))
        store.deliveries.put([delivery("d1", items=items), delivery("d2", session="s2", items=items)])

        assert store.deliveries.mark_used("eve", "s1", ["m1"], LATER) == 0
        assert store.deliveries.mark_used("ada", "s1", ["m1", "unknown"], LATER) == 1
        assert store.deliveries.mark_used("ada", "s1", ["m1"], NOW) == 0

        assert [item.used_at for item in store.deliveries.of_session("ada", "s1")[0].items] == [LATER, None]
        assert [item.used_at for item in store.deliveries.of_session("ada", "s2")[0].items] == [None, None]

    def test_deliveries_are_dropped_by_age(self, store):
        store.deliveries.put([delivery("d1"), delivery("d2", at=LATER)])

        assert store.deliveries.drop_before(NOW) == 0
        assert store.deliveries.drop_before(LATER) == 1
        assert [record.id for record in store.deliveries.of_session("ada", "s1")] == ["d2"]

    def test_a_memory_that_is_deleted_or_purged_takes_the_texts_that_show_it_along(self, store):
        one, other = (
            keep(store, memory("One.")),
            keep(store, memory("Two.", state=m.State.DELETED, deleted_at=NOW)),
        )
        mark = m.ShownItem(f"finding {other.fingerprint}", "bridge")
        told = [
            (m.ShownItem(one.id, "task"),),
            (m.ShownItem(other.id, "task"),),
            (mark,),
            (m.ShownItem("file a", "files"),),
        ]
        store.deliveries.put([delivery(f"d{number}", items=items) for number, items in enumerate(told)])

        store.delete(one.id)
        store.purge(LATER, "user", LATER)

        left = store.deliveries.of_session("ada", "s1")
        assert [(record.text, len(record.items)) for record in left] == [("", 0)] * 3 + [("Told.", 1)]

    def test_a_project_that_is_cleared_takes_its_deliveries_along(self, store, open_store_as):
        theirs = open_store_as("eve")
        store.deliveries.put([delivery("d1"), delivery("d2", project_id="bank")])
        theirs.deliveries.put([delivery("d3", user_id="eve")])

        store.clear("ada", "shop", LATER)

        assert store.deliveries.newest("ada", "shop", 9) == []
        assert [record.id for record in store.deliveries.newest("ada", "bank", 9)] == ["d2"]
        assert [record.id for record in theirs.deliveries.newest("eve", "shop", 9)] == ["d3"]


class ModuleMapContract:
    def test_a_module_map_is_changed_as_a_whole(self, store):
        seen = []

        def add(document):
            seen.append(document)
            return f"{document or ''}x"

        assert store.modules.get("shop") is None
        assert store.modules.change("shop", add, NOW) == "x"
        assert store.modules.change("shop", add, NOW) == "xx"

        assert seen == [None, "x"]
        assert store.modules.get("shop") == "xx"
        assert store.modules.get("bank") is None


class ReviewContract:
    def test_a_question_is_asked_once_until_its_reason_is_new(self, store):
        one = keep(store, memory("One."))
        review = m.Review(m.new_id(), "ada", "shop", "merge", (one.id,), "alike", NOW)

        assert store.reviews.ask(review)
        assert not store.reviews.ask(replace(review, id=m.new_id()))
        assert store.reviews.decide(review.id, "kept", NOW)
        assert not store.reviews.decide(review.id, "merged", NOW)
        assert not store.reviews.ask(replace(review, id=m.new_id()), since=NOW)
        assert store.reviews.ask(replace(review, id=m.new_id(), reason="again"), since=LATER)

        assert [each.reason for each in store.reviews.open("ada", "shop")] == ["again"]

    def test_open_questions_are_those_of_the_project_and_of_global_memories(self, store, open_store_as):
        def ask(name, project, kind="merge", user="ada"):
            asking = store if user == "ada" else open_store_as(user)
            asking.reviews.ask(m.Review(name, user, project, kind, (name,), "alike", NOW))

        ask("here01", "shop")
        ask("globa1", None, "conflict")
        ask("there1", "bank")
        ask("others", "shop", user="eve")

        assert [each.id for each in store.reviews.open("ada", "shop")] == ["globa1", "here01"]
        assert [each.id for each in store.reviews.open("ada", "shop", "conflict")] == ["globa1"]
        assert [each.id for each in store.reviews.iterate(MINE)] == ["globa1", "here01"]
        assert store.reviews.get("ada", "here").id == "here01"
        assert store.reviews.get("ada", "re1").id == "there1"


class WorkContract(
    EventContract,
    MessageContract,
    LedgerContract,
    MeasureContract,
    DeliveryContract,
    ModuleMapContract,
    ReviewContract,
):
    """All that a team shares or synchronises."""


class LocalWorkContract(EpisodeContract, PrunedTextContract):
    """What stays on each machine."""
