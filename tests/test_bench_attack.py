"""The attacks count what they should: a row of zeros means that something was tried and went well."""

from bench import attack
from bench.attack import inputs
from bench.attack.case import Result


def test_an_attack_that_did_not_take_place_counts_as_a_crash(monkeypatch, capsys):
    monkeypatch.setattr(attack, "ATTACKS", (attack.Attack("nothing", lambda folder, seconds: Result()),))

    figures = attack.run()
    attack.show(figures)

    assert not attack.is_clean(figures)
    assert "nothing: crashed: the attack did not take place: nothing was tried" in capsys.readouterr().out


def test_an_error_that_is_no_message_is_counted(monkeypatch, tmp_path):
    def load(home, environment):
        raise KeyError("capacity")

    monkeypatch.setattr("recollect.config.load_settings", load)

    result = inputs.configuration(tmp_path, 0.0)

    assert result.crashed == result.tries > 0


def test_a_clean_row_is_clean(tmp_path):
    result = inputs.configuration(tmp_path, 0.0)

    assert (result.tries, result.lost, result.crashed, result.hung, result.leaked) == (50, 0, 0, 0, 0)
