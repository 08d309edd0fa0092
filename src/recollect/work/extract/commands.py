"""Parse a command line as far as comparing two of them requires."""

from __future__ import annotations

import re
from functools import lru_cache
from posixpath import basename

from recollect.frozen import frozen

_READ = 4000  # characters of a command line that are parsed

_TOKEN = re.compile(r"""'[^']*'?|"(?:\\.|[^"\\])*"?|\\.|&&|\|\||[|;&\n]|[^\s'"\\&|;]+|[^\S\n]+""", re.DOTALL)
_HEREDOC = re.compile(r"<<-?\s*['\"]?(\w+)['\"]?.*?(?:^\s*\1\b|\Z)", re.DOTALL | re.MULTILINE)
_REDIRECT = re.compile(r"(?:\d|&)?>{1,2}\s*(?:&\d|\S+)|<\s*\S+")
_WRITES = re.compile(r"(?:^|&&|;|\n)[ \t]*+(?:cat|echo|printf)\b[^|;&\n>]*>{1,2}\s*([\w./~-]+)")
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=\S*")
_PATH = re.compile(r"^[\w@.~-]*/[\w@./*~-]+$|^[\w-][\w.-]*\.[A-Za-z][\w]{0,5}$")
_VERSION = re.compile(r"(?<![\d.])[\d.]+$")
_WORD = re.compile(r"^[a-z][\w:-]*$")

# These prepare for the command that matters.
_SETUP = frozenset(
    "cd export source . set unset pushd popd echo printf sleep true wait ulimit umask alias".split()
)
_WRAPPERS = frozenset("sudo time nice nohup env command exec timeout stdbuf xvfb-run".split())
# These change nothing; if they fail, they found nothing.
_LOOKUPS = frozenset(
    "ls cat head tail grep egrep rg ag ack find fd file which whereis type pwd tree wc stat du df less more diff cmp awk cut sort uniq tr jq od xxd nl test [ "
    "id whoami date uname ps env printenv history man help kill pkill apt-cache sed".split()
)
_LOOKING = frozenset(
    "status log logs diff show list ls ps info view search describe get ls-files rev-parse blame grep remote reflog branch ready help version explain outdated".split()
)
# Their first argument is a file or a script, not one of their own verbs.
_INTERPRETERS = frozenset("python node ruby perl bash sh zsh php lua deno bun java Rscript strings".split())
_RUNNERS = frozenset("npx pnpx bunx uvx".split())
# These check everything if no file is named.
_CHECKS = re.compile(r"test|spec|lint|check|build|compile|credo|tsc|mypy|ruff|clippy|make|vet")
_DEEPER = frozenset("run compose exec".split())  # verbs whose argument says what is done


@frozen
class Command:
    """A parsed command line."""

    line: str  # as it was run
    text: str  # one line, without redirections and the text of a commit
    heads: tuple[str, ...]  # program and verb of each part that matters
    words: frozenset[str]  # pieces of its arguments
    paths: frozenset[str]  # the names of the files it mentions
    shell: str  # like `text`, with what prepares for it: directories, variables
    piped: bool  # its exit status is that of another command
    inline: bool  # it contains its own script
    writes: tuple[str, ...]  # files it writes, as the line names them

    @property
    def is_lookup(self) -> bool:
        return all(_is_lookup(head) for head in self.heads)

    @property
    def is_git(self) -> bool:
        return all(head.startswith("git ") for head in self.heads)


def parse(line: str) -> Command:
    """Return the parsed command line; only its beginning counts if it is very long."""
    return _parse(line[:_READ])


@lru_cache(maxsize=256)
def _parse(line: str) -> Command:
    text = _HEREDOC.sub("…", line)
    parts, piped = _parts(text)
    main = [words for part in parts if (words := _unwrapped(part)) and words[0] not in _SETUP]
    heads = tuple(_head(words) for words in main)
    arguments = [word for words, head in zip(main, heads, strict=True) for word in words[len(head.split()) :]]
    return Command(
        line=" ".join(line.split()),
        text=" && ".join(" ".join(words) for words in main),
        heads=heads,
        words=frozenset(
            piece
            for word in arguments
            if not word.startswith("-")
            for piece in re.split(r"[^a-z0-9]+", word.lower())
            if len(piece) > 2 and not piece.isdigit()
        ),
        paths=frozenset(basename(word.rstrip("/")) for word in arguments if _PATH.match(word)),
        shell=" && ".join(" ".join(part) for part in parts),
        piped=piped,
        inline=any(_is_inline(words) for words in main) or ("<<" in line and "commit" not in line),
        writes=(*_WRITES.findall(text), *(words[-1] for words in main if words[:2] == ["sed", "-i"])),
    )


def is_same_command(failed: Command, passed: Command) -> bool:
    """Return whether `passed` shows that `failed` works now: it is the same command, or a similar form of it."""
    if not failed.heads or not passed.heads:
        return False
    if failed.inline or passed.inline:
        return failed.line == passed.line
    if failed.text == passed.text or f" {failed.text}" in passed.text:
        return True
    arguments = failed.text.split()[1:]
    if len(arguments) > 1 and passed.text.split()[-len(arguments) :] == arguments:  # by another program
        return True
    if len(arguments) and _has_more_targets(failed, passed):
        return True
    if _plain(failed.heads[-1]) not in map(_plain, passed.heads):
        return False
    if failed.paths and passed.paths:
        return bool(failed.paths & passed.paths)
    if failed.words and passed.words:
        return 2 * len(failed.words & passed.words) >= len(failed.words | passed.words)
    return not failed.words or bool(_CHECKS.search(failed.heads[-1]))


def _has_more_targets(failed: Command, passed: Command) -> bool:
    """Return whether the last part of `passed` ends like `failed` and does more before it: `make clean all`, `make all`."""
    before, after = (command.text.rpartition(" && ")[2].split() for command in (failed, passed))
    return len(before) > 1 and after[:1] == before[:1] and after[-len(before) + 1 :] == before[1:]


def checks_something_else(failed: Command, passed: Command) -> bool:
    """Return whether a check passed for other targets than those it failed for: `test cart`, `test format`."""
    if not failed.heads or not _CHECKS.search(failed.heads[-1]):
        return False
    before, after = _targets(failed), _targets(passed)
    return bool(before - after) and bool(after - before) and not before & after


def _targets(command: Command) -> set[str]:
    """Return the arguments of the last part that are neither options nor their values."""
    words = command.text.rpartition(" && ")[2].split()
    verb = command.heads[-1].split()[-1]
    start = words.index(verb) + 1 if verb in words else 1
    return {
        word
        for before, word in zip(words[start - 1 :], words[start:], strict=False)
        if not word.startswith("-") and not before.startswith("-")
    }


def _is_inline(words: list[str]) -> bool:
    return _plain(basename(words[0])) in _INTERPRETERS and any(word in ("-c", "-e") for word in words[1:3])


def _plain(head: str) -> str:
    """Return the head without version: `python manage.py` for `python3.12 manage.py`."""
    program, _, rest = head.partition(" ")
    return f"{_VERSION.sub('', program)} {rest}".strip()


def _parts(line: str) -> tuple[list[list[str]], bool]:
    """Return the words of each command without the filters after a pipe, and whether the exit status is unreliable."""
    parts: list[list[str]] = [[]]
    word, piped, filtering = "", False, False
    for token in _TOKEN.findall(line):
        if token.strip() and token not in ("&&", "||", "|", ";", "&"):
            word += _short(token)
            continue
        if word and not filtering:
            parts[-1].append(word)
        word = ""
        if token in ("&&", ";", "\n", "||"):
            parts.append([])
            piped = piped or token == "||"
            filtering = token == "||"
        elif token == "|":
            piped = filtering = True
    if word and not filtering:
        parts[-1].append(word)
    cleaned = [_REDIRECT.sub("", " ".join(part)).split() for part in parts]
    return [part for part in cleaned if part], piped


def _short(token: str) -> str:
    if token[0] in "'\"" and (len(token) > 60 or "\n" in token):
        return "…"
    return token if token[0] in "'\"" else token.strip()


def _unwrapped(part: list[str]) -> list[str]:
    words = list(part)
    while words and (_ASSIGNMENT.fullmatch(words[0]) or basename(words[0]) in _WRAPPERS):
        wrapper = basename(words.pop(0))
        while wrapper == "timeout" and words and re.match(r"^-|^\d", words[0]):
            words.pop(0)
    return words


def _head(words: list[str]) -> str:
    program = basename(words[0].strip("'\"")) or words[0]
    rest = words[1:]
    if program in _RUNNERS and rest and not rest[0].startswith("-"):
        return f"{program} {_head(rest)}"
    if _plain(program) in _INTERPRETERS:
        if len(rest) > 1 and rest[0] == "-m":
            return " ".join([program, *rest[:2]])
        return " ".join([program, *rest[:1]]) if rest and not rest[0].startswith("-") else program
    rest = _without_place(program, rest)
    if program == "sed" and rest[:1] == ["-i"]:
        return "sed -i"
    if not rest or not _WORD.match(rest[0]):
        return program
    depth = 2 if rest[0] in _DEEPER and len(rest) > 1 and _WORD.match(rest[1]) else 1
    return " ".join([program, *rest[:depth]])


# Options before the verb that say where to run it.
_PLACES = {
    "pnpm": ("--filter", "-F", "-C", "--dir", "-r", "-w"),
    "npm": ("--prefix", "-w", "--workspace"),
    "yarn": ("--cwd", "workspace"),
    "git": ("-C", "-c"),
    "make": ("-C",),
    "docker": ("-H", "--context"),
    "terraform": (),
    "go": ("-C",),
    "mvn": ("-pl", "-f"),
}


def _without_place(program: str, words: list[str]) -> list[str]:
    """Return the words after the options that say where a program works: `test` of `pnpm --filter web test`."""
    places = _PLACES.get(program)
    while (
        places is not None and words and (words[0] in places or words[0].startswith(("-chdir=", "--filter=")))
    ):
        takes_value = "=" not in words[0] and words[0] not in ("-r", "-w")
        words = words[2 if takes_value else 1 :]
    return words


def _is_lookup(head: str) -> bool:
    program, _, verb = head.partition(" ")
    return (program in _LOOKUPS and verb != "-i") or (verb in _LOOKING and program not in _INTERPRETERS)
