"""Nobody gets a row too many or too few through the interface; an attacker gets nothing and breaks nothing."""

import pytest

from bench.local_postgres import SERVER
from bench.team.interface import Answer, Caller, RunningServer, Trial, server_of
from bench.team.model_of_teams import KnownMemory
from recollect.store.postgres.team import PostgresTeam


@pytest.fixture
def trial(postgres, home):
    backend = PostgresTeam(postgres.url(SERVER))
    with RunningServer(server_of(backend, home)) as server:
        trial = Trial(backend, server.port, postgres.url("postgres"), teams=3, seed=11)
        yield trial
        trial.close()
    backend.close()


def test_random_and_forged_requests_show_nobody_a_row_too_many_or_too_few(trial):
    outcome = trial.run(200)

    assert (outcome.too_many, outcome.too_few, outcome.server_errors) == ([], [], [])
    assert outcome.compared > 60 and outcome.refused > 40 and outcome.rows > 100 and outcome.forged > 20


def test_the_trial_notices_a_row_too_many_and_a_row_too_few(trial):
    team, other = trial.teams[:2]
    caller = Caller(team, team.people[0], team.people[0].tokens[0], None)
    trial.ask(caller, "remember", {"content": next(trial.texts), "visibility": "team", "scope": "global"})
    trial.keep(other, KnownMemory("1" * 18, "", None, "private", "The bidafogeku is secret", frozenset()))

    trial._list(caller)  # one that the model does not know
    trial.look_for_secrets(caller, "search", {}, Answer(200, None, "… bidafogeku …"))
    trial.compare_rows()  # and one that is not there

    assert [line.partition(":")[0].split()[0] for line in trial.outcome.too_many] == [
        "list",
        "search",
        "rows",
    ]
    assert len(trial.outcome.too_few) == 1
