"""Which commands a person's rule forbids, so that an agent can be stopped before it runs one.

"Never run git push --force" forbids `git push --force`. A rule with a condition ("… on main", "… unless I ask") forbids nothing
here: a command line does not show whether the condition holds, and asking each time would be noise.
"""

import re

_LONGEST = 300  # characters of a rule; a longer text is no plain rule
_FORBIDS = re.compile(
    r"(?:please )?(?:you (?:must|should) (?:not|never)|must (?:not|never)|never(?: ever)?|do not(?: ever)?|don['’]?t(?: ever)?)"
    r" (?:run|execute|use|call|invoke|type|do) (?:the command )?(?P<rest>\S.*)",
    re.IGNORECASE | re.DOTALL,
)
_QUOTED = re.compile(r"[`\"“](?P<command>[^`\"“”]+)[`\"”]")
# A program and its arguments: "git push --force", "rm -rf build", "terraform apply".
_COMMAND = re.compile(r"[a-z][\w.-]*(?: (?:--?[a-zA-Z][\w=./-]*|[a-z0-9][\w.:=@/*-]*))+")
# Where the command of a plain sentence ends: at its reason, or at its end.
_END = re.compile(
    r"(?:(?:,| [–—-])? (?:because|since|as it|as they|it|that|this|we|or|ever|again|here|please|without asking(?: me)?(?: first)?"
    r"|in this (?:repo|repository|project|codebase))\b|[;!]|[.,](?=\s|$)|[–—(]).*",
    re.IGNORECASE | re.DOTALL,
)
_CONDITION = re.compile(r"\b(?:unless|except|until|when|while|if|during|before|after|only)\b", re.IGNORECASE)
# Words of a sentence that no command line has.
_PROSE = frozenset(
    "a an the any all every on in at to for with without before after until unless except when while if during from of by and or"
    " my our your this that these those directly manually yourself anything something".split()
)
# Programs that are called by a name that is an English word too are known by their arguments only.
_PROGRAMS = frozenset(
    "git npm npx pnpm yarn bun pip pipx uv poetry conda cargo go make cmake docker podman kubectl helm terraform ansible"
    " ansible-playbook aws gcloud az heroku fly vercel psql mysql redis-cli mongo sqlite3 rm mv chmod chown dd mkfs sudo"
    " systemctl kill pkill curl wget ssh scp rsync gh glab rails rake bundle mix manage.py alembic flyway prisma django-admin"
    " php artisan composer dotnet gradle mvn brew apt apt-get dnf yum".split()
)


def forbidden_commands(text: str) -> tuple[str, ...]:
    """Return the commands that a rule forbids under all conditions; empty if it is no such rule."""
    found = _FORBIDS.match(text.strip()) if len(text) <= _LONGEST else None
    if found is None or _CONDITION.search(text):
        return ()
    rest = found["rest"]
    if quoted := _QUOTED.match(rest):
        command, after = quoted["command"], rest[quoted.end() :]
    else:
        command, after = _END.sub("", rest), ""
        if command.split()[:1] and command.split()[0] not in _PROGRAMS:
            return ()
    command = " ".join(command.split())
    if _END.sub("", after).strip(" .!") or not _COMMAND.fullmatch(command):
        return ()
    return () if _PROSE.intersection(command.lower().split()) else (command,)
