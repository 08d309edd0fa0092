"""Settings: the file, then the environment, then flags; what is not known is refused by name."""

import pytest

from recollect.config import explain_settings, load_settings, unknown_variables
from recollect.errors import BadSetting, NoHome


def write(home, text):
    home.mkdir(exist_ok=True)
    (home / "config.toml").write_text(text)


def test_flags_win_over_the_environment_and_that_over_the_file(tmp_path):
    write(tmp_path, 'user = "file"\nsession_limit = 7\nbackup_hours = 1\n')
    environment = {"RECOLLECT_USER": "environment", "RECOLLECT_SESSION_LIMIT": "8"}

    settings = load_settings(tmp_path, environment, user="flag")

    assert (settings.user, settings.session_limit, settings.backup_hours) == ("flag", 8, 1)


def test_recollect_home_moves_everything(tmp_path):
    settings = load_settings(environment={"RECOLLECT_HOME": str(tmp_path / "elsewhere")})

    assert settings.database == tmp_path / "elsewhere" / "recollect.db"


def test_a_home_that_nobody_has_is_an_error_with_a_hint():
    with pytest.raises(NoHome) as refused:
        load_settings(environment={"RECOLLECT_HOME": "~nobody-of-this-name/memory"})

    assert "RECOLLECT_HOME" in refused.value.hint


@pytest.mark.parametrize(
    "text, named",
    [
        ("embeder = 'none'", "'embeder'"),
        ("embedder = 'openai'", "'openai'"),
        ("session_limit = -1", "session_limit"),
        ("session_limit = true", "session_limit"),
        ("session_limit = 'many'", "'many'"),
        ("user = 7", "user"),
        ("home = 'x'", "'home'"),
        ("not toml at all", "config.toml"),
        ("[embedder]\nname = 'x'", "embedder"),
        ("embedder = 'http'", "embedder_url"),
        ("sidecar = 'http'", "sidecar_url"),
        ("sidecar = 'http'\nsidecar_model = 'm'\nsidecar_url = 'ftp://x'", "sidecar_url"),
        ("sidecar = 'http'\nsidecar_model = 'm'\nsidecar_url = 'https://me:pw@x/v1'", "sidecar_url"),
        ("sidecar = 'command'", "sidecar_command"),
        ("sidecar = 'command'\nsidecar_command = \"'\"", "sidecar_command"),
        ("sidecar_daily_cost = 'much'", "sidecar_daily_cost"),
        ("sidecar_seconds = inf", "sidecar_seconds"),
        ("sidecar_price_in = -0.1", "sidecar_price_in"),
    ],
)
def test_a_bad_setting_is_refused_by_name(tmp_path, text, named):
    write(tmp_path, text)

    with pytest.raises(BadSetting, match=named) as refusal:
        load_settings(tmp_path, {})

    assert refusal.value.hint


def test_a_config_that_is_not_utf8_is_refused(tmp_path):
    (tmp_path / "config.toml").write_bytes(b"user = '\xff'")

    with pytest.raises(BadSetting, match="not valid TOML"):
        load_settings(tmp_path, {})


def test_a_config_that_is_a_folder_is_refused(tmp_path):
    (tmp_path / "config.toml").mkdir()

    with pytest.raises(BadSetting, match="Cannot read"):
        load_settings(tmp_path, {})


def test_an_unknown_variable_has_no_effect_and_is_named(tmp_path):
    variables = {"RECOLLECT_EMBEDR": "none", "RECOLLECT_HOME": "/x", "EMBEDDER": "none"}

    settings, notes = load_settings(tmp_path, variables), unknown_variables(variables)

    assert settings == load_settings(tmp_path, {})
    assert notes == [
        "The variable RECOLLECT_EMBEDR is no setting and has no effect. Did you mean RECOLLECT_EMBEDDER?"
    ]


def test_keys_are_variables_and_not_settings(tmp_path):
    settings = load_settings(tmp_path, {"RECOLLECT_KEY": "k", "RECOLLECT_EMBEDDER_KEY": "e", "PATH": "/bin"})

    assert "k" not in (settings.user, settings.embedder_url)


def test_every_setting_is_explained_with_its_source(tmp_path):
    (tmp_path / "config.toml").write_text('capacity = 7\nsidecar = "none"\n')
    environment = {"RECOLLECT_SIDECAR": "local", "RECOLLECT_USER": "ada"}
    settings = load_settings(tmp_path, environment)

    rows = {row.name: row for row in explain_settings(settings, environment)}

    assert all(row.meaning for row in rows.values())
    assert (rows["capacity"].value, rows["capacity"].default) == ("7", "3000")
    assert rows["capacity"].source == str(tmp_path / "config.toml")
    assert (rows["sidecar"].value, rows["sidecar"].source) == ("local", "RECOLLECT_SIDECAR")
    assert rows["backup_hours"].source == "default"
