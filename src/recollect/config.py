"""Settings from `config.toml` in RECOLLECT_HOME, the environment and options; the last one wins.

An interface loads them once and passes them down.
"""

import os
import re
from collections.abc import Mapping
from dataclasses import fields, replace
from math import inf
from pathlib import Path
from typing import Any

from recollect.errors import BadSetting, NoHome
from recollect.frozen import frozen

DATABASE = "recollect.db"  # in the home
_PREFIX = "RECOLLECT_"
# Variables that are not settings: the home, secrets, which must not be in a file, and the deadline of hooks, which read
# no file.
_OTHER_VARIABLES = {
    "HOME",
    "KEY",
    "KEY_FILE",
    "PASSPHRASE",
    "EMBEDDER_KEY",
    "SIDECAR_KEY",
    "HOOK_DEADLINE",
    "PAGER",
    "TOKEN",
    "TEAM_DATABASE",
}
_ADDRESS = re.compile(r"https?://[^\s/?#@]+(/[^\s?#@]*)?")


@frozen
class Settings:
    home: Path
    user: str
    project: str = ""  # a folder to use instead of the current one
    embedder: str = "minilm"  # minilm, http or none
    embedder_url: str = ""  # http: an OpenAI-compatible server
    embedder_model: str = ""  # http: the model's name there
    embedder_dim: int = 0  # http: 0 = the dimension of the server's answers
    embedder_path: str = ""  # minilm: another ONNX model
    embedder_providers: str = "auto"  # minilm: auto, cpu, openvino, cuda or coreml
    sidecar: str = "local"  # local, http, command or none
    sidecar_url: str = ""  # http: an OpenAI-compatible server, or Anthropic's
    sidecar_model: str = ""  # http: the model's name there
    sidecar_command: str = ""  # command: the command line to run, without a shell
    sidecar_seconds: float = 15.0  # timeout of an answer; four times as long at the end of a session
    sidecar_daily_tokens: int = 200_000
    sidecar_daily_cost: float = 1.0  # in the currency of the prices
    sidecar_price_in: float = 0.0  # per million input tokens
    sidecar_price_out: float = 0.0  # per million output tokens
    nli_folder: str = (
        ""  # a model of natural-language inference that holds back merges and questions; "" = none
    )
    roles_file: str = ""  # tools and their roles, besides those that are known: a TOML file
    session_limit: int = 50  # memories that an agent may write in one session
    capacity: int = 3000  # automatically stored memories in a project; 0 = no limit
    message_days: int = 90  # how long messages of sessions are stored; 0 = forever
    episode_days: int = (
        90  # how long single uses of tools and files are stored before they are aggregated; 0 = forever
    )
    pruned_days: int = 14  # how long text pruned from a context window is stored; 0 = not at all
    prune_output: int = 0  # tokens from which a hook shortens a tool's output; 0 = never
    backup_hours: int = 24  # between automatic backups; 0 = none
    daemon_idle: int = 1800  # seconds without a request until the daemon stops; 0 = never
    # How long the first prompt of a session may wait for a daemon that is starting or loading its model.
    first_prompt_seconds: float = 1.5
    # Whether an agent that recorded nothing in a session with something worth keeping is asked once to do so.
    ask_to_record: str = "on"
    mcp_tools: str = "core"  # the tools of the MCP server: core (four of them) or all
    # Your own repositories, whose conventions agents may read without a review. Several values are separated by spaces.
    trusted_remotes: str = ""  # hosts with an owner: github.com/ada
    trusted_authors: str = ""  # e-mail addresses: of a repository in which nobody else has committed

    @property
    def database(self) -> Path:
        return self.home / DATABASE


_CHOICES = {
    "embedder": ("minilm", "http", "none"),
    "sidecar": ("local", "http", "command", "none"),
    "ask_to_record": ("on", "off"),
    "mcp_tools": ("core", "all"),
    "embedder_providers": ("auto", "cpu", "openvino", "cuda", "coreml"),
}
_IN_FILE_ONLY = {
    "trusted_remotes",
    "trusted_authors",
}  # a repository may set variables, for example in .mcp.json
_NAMES = [field.name for field in fields(Settings) if field.name != "home"]

# What each setting does, in a line for people; docs/settings.md says more.
MEANINGS = {
    "user": "the user who owns the memories",
    "project": "a folder to work in instead of the current one",
    "embedder": "what compares meanings: minilm, http or none",
    "embedder_url": "http: an OpenAI-compatible server",
    "embedder_model": "http: the model's name there",
    "embedder_dim": "http: the dimension of its vectors; 0 = as the server answers",
    "embedder_path": "minilm: another ONNX model",
    "embedder_providers": "minilm: auto, cpu, openvino, cuda or coreml",
    "sidecar": "what decides where rules are unsure: local, http, command or none",
    "sidecar_url": "http: an OpenAI-compatible server, or Anthropic's",
    "sidecar_model": "http: the model's name there",
    "sidecar_command": "command: the command line to run, without a shell",
    "sidecar_seconds": "seconds to wait for an answer; four times as long at the end of a session",
    "sidecar_daily_tokens": "tokens that the sidecar may use per day; 0 = none",
    "sidecar_daily_cost": "money that the sidecar may cost per day, in the currency of the prices",
    "sidecar_price_in": "price of a million tokens that are sent",
    "sidecar_price_out": "price of a million tokens that are received",
    "nli_folder": "a folder with a model of natural-language inference, which holds back doubtful merges",
    "roles_file": "a TOML file with tools and their roles, besides those that are known",
    "trusted_remotes": "owners of repositories that you trust, such as github.com/ada",
    "trusted_authors": "e-mail addresses: repositories in which nobody else has committed are trusted",
    "ask_to_record": "whether agents are asked at the end of a turn to record what they learnt",
    "session_limit": "memories that an agent may write in one session",
    "capacity": "memories of agents per project, beyond which the least important are archived; 0 = no limit",
    "message_days": "days to keep messages of sessions, and what agents were told; 0 = forever",
    "episode_days": "days to keep each use of a tool or file before it is summed up; 0 = forever",
    "pruned_days": "days to keep text that left a context window; 0 = not at all",
    "prune_output": "tokens from which a hook shortens a tool's output; 0 = never",
    "backup_hours": "hours between automatic backups; 0 = none",
    "daemon_idle": "seconds without a request until the daemon stops; 0 = never",
    "first_prompt_seconds": "how long the first prompt of a session may wait for the daemon",
    "mcp_tools": "the tools of the MCP server: core (four of them) or all",
}


@frozen
class ExplainedSetting:
    """A setting with what it does and where its value is from."""

    name: str
    value: str
    default: str
    source: str  # "default", the path of the file, or the name of the variable
    meaning: str


def load_settings(
    home: Path | str | None = None,
    environment: Mapping[str, str] | None = None,
    **flags: Any,
) -> Settings:
    """Return the settings. Raises `BadSetting` for an unknown name or an invalid value."""
    environment = os.environ if environment is None else environment
    place = expand_home(home or environment.get(f"{_PREFIX}HOME") or "~/.recollect")
    return _combine(place, _read(settings_file(place)), environment, flags)


def _combine(
    home: Path, values: Mapping[str, Any], environment: Mapping[str, str], flags: Mapping[str, Any]
) -> Settings:
    """Return the settings from the values of the file, variables and options. Raises `BadSetting`."""
    settings = Settings(home=home, user=_login())
    file = settings_file(home)
    for name, value in values.items():
        settings = _with(settings, name, value, f"{file}")
    for variable, text in environment.items():
        name = variable.removeprefix(_PREFIX)
        if variable.startswith(_PREFIX) and name not in _OTHER_VARIABLES and name.lower() in _NAMES:
            if name.lower() in _IN_FILE_ONLY:
                raise BadSetting(f"{variable} is not read from the environment.", f"Set it in {file}.")
            settings = _with(settings, name.lower(), text, f"the variable {variable}")
    for name, value in flags.items():
        if value is not None:
            settings = _with(settings, name, value, f"--{name.replace('_', '-')}")
    if settings.embedder == "http" and not (settings.embedder_url and settings.embedder_model):
        raise BadSetting("embedder = http needs embedder_url and embedder_model.", "Set both, or use minilm.")
    _check_sidecar(settings)
    return settings


def settings_file(home: Path) -> Path:
    return home / "config.toml"


def unknown_variables(environment: Mapping[str, str] | None = None) -> list[str]:
    """Return a sentence for each variable that begins like a setting and is none; it has no effect."""
    environment = os.environ if environment is None else environment
    notes = []
    for variable in sorted(environment):
        name = variable.removeprefix(_PREFIX)
        if not variable.startswith(_PREFIX) or name in _OTHER_VARIABLES or name.lower() in _NAMES:
            continue
        similar = _similar(name.lower())
        hint = f" Did you mean {_PREFIX}{similar[0].upper()}?" if similar else ""
        notes.append(f"The variable {variable} is no setting and has no effect.{hint}")
    return notes


def change_setting(home: Path, name: str, value: str | None) -> None:
    """Write a setting to the configuration file, or remove it for None. Comments and other lines stay.

    Raises `BadSetting` before anything is written.
    """
    file = settings_file(home)
    if name not in _NAMES:
        raise unknown_setting(name)
    values = _read(file)
    if value is None:
        values.pop(name, None)
    else:
        values[name] = _parse(name, value, type(getattr(Settings(home, ""), name)))
    _combine(home, values, {}, {})
    import json

    before = file.read_text(encoding="utf-8") if file.exists() else ""
    after = _with_line(before, name, None if value is None else json.dumps(values[name], ensure_ascii=False))
    if not _says(after, values):  # a value over several lines, for example
        raise BadSetting(f"{name} cannot be changed in {file} automatically.", "Edit the file by hand.")
    _replace(file, after)


def _says(text: str, values: Mapping[str, Any]) -> bool:
    import tomllib

    try:
        return tomllib.loads(text) == values
    except ValueError:
        return False


def _with_line(text: str, name: str, value: str | None) -> str:
    """Return the text of a TOML file with another line for a setting, or without its line."""
    kept = [line for line in text.splitlines() if line.partition("=")[0].strip() != name]
    return "".join(f"{line}\n" for line in ([*kept, f"{name} = {value}"] if value is not None else kept))


def _replace(file: Path, text: str) -> None:
    temporary = file.with_name(f".{file.name}.{os.getpid()}.new")
    try:
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        temporary.write_text(text, encoding="utf-8")
        temporary.replace(file)
    except OSError as error:
        raise BadSetting(f"Cannot write {file}: {error.strerror}.", "Check its permissions.") from error
    finally:
        temporary.unlink(missing_ok=True)


def explain_settings(
    settings: Settings, environment: Mapping[str, str] | None = None
) -> tuple[ExplainedSetting, ...]:
    """Return every setting with its meaning and its source, in the order of `Settings`."""
    environment = os.environ if environment is None else environment
    file = settings_file(settings.home)
    in_file = _read(file)
    defaults = Settings(home=settings.home, user=_login())
    rows = []
    for name in _NAMES:
        variable = f"{_PREFIX}{name.upper()}"
        source = variable if variable in environment else str(file) if name in in_file else "default"
        value, default = str(getattr(settings, name)), str(getattr(defaults, name))
        rows.append(ExplainedSetting(name, value, default, source, MEANINGS.get(name, "")))
    return tuple(rows)


def expand_home(path: Path | str) -> Path:
    """Return the absolute path with `~` and `~name` expanded. Raises `NoHome`."""
    try:
        return Path(path).expanduser().absolute()
    except RuntimeError as error:
        raise NoHome(path) from error


def _check_sidecar(settings: Settings) -> None:
    if settings.sidecar == "http":
        if not (settings.sidecar_url and settings.sidecar_model):
            raise BadSetting("sidecar = http needs sidecar_url and sidecar_model.", "Set both, or use local.")
        if not _ADDRESS.fullmatch(settings.sidecar_url):
            raise BadSetting(
                "sidecar_url must be an http:// or https:// address without user, password or query.",
                "A key goes into RECOLLECT_SIDECAR_KEY.",
            )
    if settings.sidecar == "command":
        import shlex

        try:
            words = shlex.split(settings.sidecar_command)
        except ValueError as error:
            raise BadSetting(f"Cannot parse sidecar_command: {error}.", "Check its quotes.") from error
        if not words:
            raise BadSetting(
                "sidecar = command needs sidecar_command.", 'Set it, for example to "claude -p".'
            )


def _read(file: Path) -> dict[str, Any]:
    try:
        text = file.read_text(encoding="utf-8")
        import tomllib  # 10 ms that are saved where there is no file

        return tomllib.loads(text)
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise BadSetting(f"Cannot read {file}: {error.strerror}.", "Check its permissions.") from error
    except ValueError as error:  # not TOML, or not UTF-8
        raise BadSetting(
            f"{file} is not valid TOML: {error}.", "Fix that line, or move the file away."
        ) from error


def _with(settings: Settings, name: str, value: Any, origin: str) -> Settings:
    if name not in _NAMES:
        raise unknown_setting(name, origin)
    return replace(settings, **{name: _parse(name, value, type(getattr(settings, name)), origin)})


def _similar(name: str) -> list[str]:
    from difflib import get_close_matches

    return get_close_matches(name, _NAMES, n=1)


def unknown_setting(name: str, origin: str = "") -> BadSetting:
    """Return the error for a name that is no setting; `origin` is where it was read."""
    similar = _similar(name)
    hint = f"Did you mean {similar[0]!r}?" if similar else "Run `recollect config` to list the settings."
    return BadSetting(f"Unknown setting {name[:60]!r}{origin and f' in {origin}'}.", hint)


def _parse(name: str, value: Any, kind: type, origin: str = "") -> Any:
    where = f"{name} in {origin}" if origin else name
    if kind is int:
        try:
            number = int(value)
        except (TypeError, ValueError):
            number = -1
        if number < 0 or isinstance(value, bool):
            raise BadSetting(f"{where} must be a whole number, not {value!r}.", "Give 0 or more.")
        return number
    if kind is float:
        try:
            amount = -1.0 if isinstance(value, bool) else float(value)
        except (TypeError, ValueError):
            amount = -1.0
        if not 0 <= amount < inf:
            raise BadSetting(f"{where} must be a number, not {value!r}.", "Give 0 or more.")
        return amount
    if not isinstance(value, str):
        raise BadSetting(f"{where} must be a string, not {value!r}.", "Put it in quotes.")
    choices = _CHOICES.get(name)
    if choices and value not in choices:
        raise BadSetting(f"{where} cannot be {value!r}.", f"Use one of: {', '.join(choices)}.")
    return value


def _login() -> str:
    import getpass

    try:
        return getpass.getuser()
    except (KeyError, OSError):  # a container whose user has no name
        return "user"
