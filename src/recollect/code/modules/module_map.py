"""The module map: the parts of a codebase, where they are, and how they are built, tested and linted."""

import json
from collections.abc import Mapping
from dataclasses import field
from datetime import datetime
from enum import StrEnum
from typing import Any

import recollect.model as m
from recollect.code.paths import FileRole
from recollect.errors import StoreDamaged, UnknownName
from recollect.frozen import frozen

VERSION = 1  # of the document; one of another version is scanned again

SLOTS = ("build", "test", "lint", "types", "format", "run")  # what commands are for


class Confidence(StrEnum):
    SHALLOW = "shallow"  # from a scan alone
    PARTIAL = "partial"  # named by a model, or some of its files used
    MAPPED = "mapped"  # used in several sessions


@frozen
class Module:
    key: str  # the folder or file where the scan found it; it stays when the name is corrected
    name: str
    kind: FileRole = FileRole.CODE
    description: str = ""
    core_files: tuple[
        str, ...
    ] = ()  # the most important first; a folder ends in "/" and means all that is in it
    entry_points: tuple[str, ...] = ()
    test_files: tuple[str, ...] = ()
    dependencies: tuple[str, ...] = ()  # packages outside the project
    related: tuple[str, ...] = ()  # keys of modules, the closest first
    terms: tuple[str, ...] = ()  # stems that distinguish it from others
    confidence: Confidence = Confidence.SHALLOW
    sessions: tuple[str, ...] = ()  # the last few that worked in it
    said: Mapping[str, str] = field(default_factory=dict)  # field → who corrected it


@frozen
class ModuleCard:
    """What a briefing says about a module."""

    name: str
    files: tuple[str, ...] = ()
    tests: tuple[str, ...] = ()
    deps: tuple[str, ...] = ()
    marks: tuple[str, ...] = ()  # that an agent named it


@frozen
class TestFramework:
    tool: str
    config_file: str = ""
    run_command: str = ""


@frozen
class ProjectTools:
    """How one part of the project is built; a monorepo has several parts, and a part can have several languages."""

    path: str  # "" = the whole project
    tool: str
    commands: Mapping[str, str] = field(default_factory=dict)  # by `SLOTS`
    sources: Mapping[str, str] = field(
        default_factory=dict
    )  # by `SLOTS`: the file that says so, or the reason
    test: TestFramework | None = None
    linters: tuple[str, ...] = ()


@frozen
class Placement:
    """A correction of where a file or a module belongs."""

    key: str  # of the module; "" = none
    by: str


@frozen
class ModuleMap:
    modules: tuple[Module, ...] = ()
    tools: tuple[ProjectTools, ...] = ()  # the main one first
    files: Mapping[str, Placement] = field(default_factory=dict)
    merged: Mapping[str, Placement] = field(default_factory=dict)  # by the key of the module that was merged
    updated_at: datetime | None = None

    def find(self, name: str) -> Module:
        """Find a module by name or key, or by a unique end of its name. Raise `UnknownName` if there is none."""
        wanted = name.strip().strip("/").lower()
        exact = [each for each in self.modules if wanted in (each.name.lower(), each.key.strip("/").lower())]
        ends = [each for each in self.modules if each.name.lower().endswith(f"/{wanted}")]
        for found in (exact, ends):
            if len(found) == 1:
                return found[0]
        raise UnknownName("module", name, [each.name for each in self.modules])

    def name_of(self, key: str) -> str:
        return next((each.name for each in self.modules if each.key == key), key)

    def home(self, path: str) -> Module | None:
        """Return the module that a file belongs to, as code or as a test."""
        for module in self.modules:
            if any(covers(entry, path) for entry in (*module.core_files, *module.test_files)):
                return module
        return None


def covers(entry: str, path: str) -> bool:
    """Return whether an entry of a module's files, which may be a folder, includes this file."""
    return path.startswith(entry) if entry.endswith("/") else path == entry


def as_document(found: ModuleMap) -> str:
    return json.dumps({"version": VERSION, **m.as_json(found)}, ensure_ascii=False, sort_keys=True)


def from_document(text: str) -> ModuleMap | None:
    """Return the stored map; None if it has another version. Raise `StoreDamaged` if it cannot be read."""
    try:
        return _read_document(json.loads(text))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise StoreDamaged(
            f"The stored module map cannot be read: {error}.",
            "Run `recollect doctor`, which checks the store and its backups.",
        ) from error


def _read_document(document: dict[str, Any]) -> ModuleMap | None:
    if document.pop("version", None) != VERSION:
        return None
    at = document["updated_at"]
    return ModuleMap(
        tuple(map(_module, document["modules"])),
        tuple(map(_tools, document["tools"])),
        {path: Placement(**each) for path, each in document["files"].items()},
        {key: Placement(**each) for key, each in document["merged"].items()},
        m.from_text(at) if at else None,
    )


def _module(record: Mapping[str, Any]) -> Module:
    values: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value for name, value in record.items()
    }
    return Module(
        **{**values, "kind": FileRole(values["kind"]), "confidence": Confidence(values["confidence"])}
    )


def _tools(record: Mapping[str, Any]) -> ProjectTools:
    test = TestFramework(**record["test"]) if record["test"] else None
    sources = record.get("sources", {})  # unknown in maps of older versions
    return ProjectTools(
        record["path"], record["tool"], record["commands"], sources, test, tuple(record["linters"])
    )
