from recollect.engine import Engine


def test_all_projects_are_told_of_where_they_come_to_more_than_this_one(run, home, tmp_path):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    with Engine.open(elsewhere, home) as engine:
        engine.measures.injected(["a-memory"], "s1")

    told = run("stats").out

    assert "1 memory given to agents, 0 of them used; 0 searches by agents" in told


def test_with_one_project_it_is_not_told_twice(run, home):
    assert "everywhere" not in run("stats").out
