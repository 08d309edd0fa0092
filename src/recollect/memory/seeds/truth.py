"""Whether a seed is still true of the project: what it names in backticks must exist."""

import re
from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from recollect.code.files import list_files
from recollect.memory.seeds.seed import Seed, read_first

_CODE = re.compile(r"`{1,2}([^`\n]{2,200})`{1,2}")
_PATH = re.compile(
    r"\.?[\w@-][\w@.-]*(?:/[\w@.-]+)+/?|[\w-]+\.(?:py|js|ts|tsx|rs|go|rb|java|kt|php|toml|cfg|ya?ml|json|md|rst|txt|sh)"
)
_SYMBOL = re.compile(
    r"(?:[A-Za-z_]\w*(?:\.|::))*([A-Za-z_]\w{2,})\(\)|([A-Z][a-z0-9]+(?:[A-Z][a-z0-9]+)+|[a-z]+(?:_[a-z0-9]+)+)"
)
_TASK = re.compile(
    r"(make|just|npm run|pnpm run|yarn run|composer run|npm|pnpm|yarn|tox -e|nox -s) ([\w:.-]+)"
)
_TASK_FILES = {
    "make": ("Makefile", "makefile", "GNUmakefile"),
    "just": ("justfile", "Justfile", ".justfile"),
    "tox": ("tox.ini", "pyproject.toml", "setup.cfg"),
    "nox": ("noxfile.py",),
    "composer": ("composer.json",),
}
_BUILT_IN = frozenset(  # of package managers: not scripts of the project
    "install i ci test t start run exec add remove update upgrade dlx create publish pack link init version audit"
    " workspace workspaces config vitest jest tsc eslint prettier".split()
)


@dataclass(frozen=True)
class ProjectNames:
    """What a project has: its files, the names that its code defines, and the tasks of its files."""

    root: Path
    symbols: Collection[str] | None = None  # None = unknown, so that every name may exist

    @cached_property
    def _files(self) -> frozenset[str]:
        return frozenset(list_files(self.root).files)

    @cached_property
    def _managers(self) -> set[str]:
        """The package managers of Node that lock files and the manifest name."""
        locks = {"pnpm-lock.yaml": "pnpm", "yarn.lock": "yarn", "package-lock.json": "npm"}
        found = {manager for name, manager in locks.items() if (self.root / name).is_file()}
        manifest = read_first(self.root, "package.json")
        named = re.search(r'"packageManager"\s*:\s*"(\w+)@', manifest.text) if manifest else None
        return {named[1]} if named else found

    def has_path(self, path: str) -> bool:
        bare = path.strip("./").rstrip("/")
        if not bare or (self.root / bare).exists():
            return True
        folder, _, name = bare.rpartition("/")
        if folder and re.search(r"\d", name) and (self.root / folder).is_dir():
            return True  # an example of a name, such as that of a change
        return any(file.endswith(f"/{bare}") or f"/{bare}/" in f"/{file}" for file in self._files)

    def has_symbol(self, name: str) -> bool:
        return self.symbols is None or name in self.symbols

    def has_trait(self, name: str) -> bool:
        """Return whether a test of .NET has a trait of that name: `[Trait("Speed", "slow")]`."""
        quoted = re.compile(rf'(?<!, )(?<!,)"{re.escape(name)}"')  # after a comma, it is a value
        sources = [path for path in self._files if path.endswith((".cs", ".fs", ".vb"))]
        return not sources or any(
            found is not None and quoted.search(found.text)
            for path in sources
            for found in (read_first(self.root, path),)
        )

    def has_task(self, runner: str, task: str) -> bool:
        program = runner.split()[0]
        if program in ("npm", "pnpm", "yarn"):
            if program not in (self._managers or {program}):
                return False  # it is installed and run by another one
            if task in _BUILT_IN and " " not in runner:
                return True
            found = read_first(self.root, "package.json")
            return found is None or f'"{task}"' in found.text
        found = read_first(self.root, *_TASK_FILES[program])
        return found is None or bool(
            re.search(rf"(?<![\w-]){re.escape(task.split(',')[0])}(?![\w-])", found.text)
        )


def is_true(seed: Seed, names: ProjectNames) -> bool:
    """Return whether the files, symbols and tasks that a seed names exist. What looks like none of these is believed."""
    return all(_exists(code.strip(), names) for code in _CODE.findall(seed.content))


_TRAIT = re.compile(r"--filter-(?:not-)?trait[ =][\"']?(\w+)=")


def _exists(code: str, names: ProjectNames) -> bool:
    if (trait := _TRAIT.search(code)) and not names.has_trait(trait[1]):
        return False
    if task := _TASK.match(code):
        return names.has_task(task[1], task[2])
    if re.search(r"[<>{}*…$]|\.\.\.|://", code):
        return True  # a placeholder or an address
    if _PATH.fullmatch(code):
        return names.has_path(code)
    if symbol := _SYMBOL.fullmatch(code):
        return names.has_symbol(symbol[1] or symbol[2])
    return True
