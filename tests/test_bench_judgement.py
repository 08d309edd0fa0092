"""The data that were written apart from the rules: they keep their format, and are counted as they say."""

import json
from collections import Counter

import pytest

from bench import judgement
from bench.judgement import PAIR_HALVES, SECRET_HALVES, TRANSCRIPT_HALVES, JudgedTranscript, Tally
from bench.statements import SERVICES, statements
from bench.verdicts import group_pairs, shown_figures
from fakes import FakeEmbedder
from recollect.kinds import KINDS


@pytest.mark.parametrize("half", PAIR_HALVES)
def test_each_half_of_the_pairs_has_enough_of_every_label(half):
    rows = judgement.pairs(half)
    counts = Counter(row.label for row in rows)

    assert set(counts) == {"contradiction", "duplicate", "related"}
    assert min(counts.values()) >= 22
    # The author of the newest sets has other names for what differs.
    assert half.endswith(("11", "12")) or any(row.category == "refines" for row in rows)


def test_no_pair_is_in_both_halves():
    pairs = [(row.old, row.new) for half in PAIR_HALVES for row in judgement.pairs(half)]

    assert len(pairs) == len(set(pairs))


def test_groups_have_every_sort_of_statement_and_are_spread_over_authors():
    groups = judgement.groups()
    pairs = group_pairs(72)

    sorts = judgement.GROUP_LABELS.keys() - {"frame"}  # which the first nine authors did not write
    assert len({(group.author, group.project) for group in groups}) == 112
    assert all(group.others.keys() >= sorts for group in groups)
    assert {len(pairs[sort]) for sort in sorts} == {72}
    assert len({old for rows in pairs.values() for _, old, _ in rows}) == 72


def test_an_agent_is_shown_the_statement_that_its_own_repeats_and_none_of_another_project():
    others = {"same": "Keys of all tables are ULIDs", "rel": "Mail leaves by the queue"}
    groups = [
        judgement.StatementGroup(1, 1, "Keys of tables are ULIDs", others),
        judgement.StatementGroup(1, 2, "Mail leaves by a queue", {}),
    ]

    figures = shown_figures(groups, FakeEmbedder())

    assert figures["shown to an agent"] == {"same": 1.0, "rel": 0.0}
    assert figures["memories shown per 100 records"] == {"same": 100, "rel": 0}


@pytest.mark.parametrize("half", SECRET_HALVES)
def test_secrets_are_made_alike_each_time_and_stand_in_their_text(half):
    rows = judgement.secrets(half)

    assert rows == judgement.secrets(half)
    assert sum(bool(row.secret) for row in rows) == len(rows) / 2 >= 20
    assert all(row.secret in row.text for row in rows)
    assert not any("⟦" in row.text + row.secret for row in rows)


def test_no_file_holds_a_secret_of_a_provider_in_full():
    stored = "".join(path.read_text() for path in judgement.DATA.glob("secrets_*.jsonl"))
    plain = [
        row.type
        for half in SECRET_HALVES
        for row in judgement.secrets(half)
        if row.secret and row.secret in stored
    ]

    assert {name.partition("-")[0] for name in plain} == {"prose"}


@pytest.mark.parametrize("half", TRANSCRIPT_HALVES)
def test_a_judgement_names_kinds_and_lines_that_exist(half):
    rows = judgement.transcripts(half)
    own = [judged for judged in rows if judged.path.is_relative_to(judgement.DATA)]

    assert len(own) >= 5
    for row in [row for judged in rows for row in [*judged.keep, *judged.may]]:
        assert set(row["kinds"]) <= set(KINDS)
        assert judgement.meets(row, row["memory"])
    for record in [record for judged in rows for record in judged.records]:
        assert record["kind"] in KINDS
    for judged in own:
        lines = [json.loads(line) for line in judged.path.read_text().splitlines()]
        for row in [*judged.keep, *judged.may, *judged.drop]:
            assert row["at"]
            assert max(row["at"]) < len(lines)


def test_the_tally_tells_kept_repeated_dropped_and_unjudged_apart(tmp_path):
    pnpm = {"has": [["pnpm"], ["npm i", "npm install"]], "kinds": ["preference"]}
    port = {"has": [["3001"]]}
    docs = {"has": [["docs/"]], "kinds": ["fact"]}
    judged = JudgedTranscript(tmp_path, [pnpm], [docs], [port], [])

    learnt = [
        ("preference", "Use pnpm, not npm install."),
        ("preference", "pnpm in place of npm install"),
        ("fact", "Pages are in docs/."),
        ("fact", "Port 3001 is in use."),
        ("fact", "The sky is blue."),
    ]

    assert judgement.tally(judged, learnt) == Tally(right=2, wrong=2, unjudged=1, found=1, wanted=1)
    assert judgement.tally(judged, []) == Tally(right=0, wrong=0, unjudged=0, found=0, wanted=1)


def test_there_are_twenty_different_statements_about_each_service():
    made = statements()

    assert len(made) == len(set(made)) == 500
    assert made == statements()
    assert all(sum(name in text for text in made) >= 20 for name in SERVICES)
