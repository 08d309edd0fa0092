"""Ruby: what any file requires, or what is loaded when it is first named, is seen everywhere."""

import re
from collections.abc import Iterator
from posixpath import dirname, join, normpath

from recollect.code.facts import Import
from recollect.code.languages.language import Language
from recollect.code.languages.plain.packages import QUOTED, FilePackages


def _imports(text: str) -> Iterator[Import]:
    if found := re.search(QUOTED, text):
        is_relative = text.startswith("require_relative") and not found[1].startswith(".")
        yield Import(f"./{found[1]}" if is_relative else found[1], "*")


class RubyPackages(FilePackages):
    def of(self, path: str) -> str:
        return ""

    def everything(self, path: str, entry: Import) -> list[str]:
        return []

    def find_file(self, path: str, module: str) -> str | None:
        file = module if module.endswith(".rb") else f"{module}.rb"
        if module.startswith("."):
            target = normpath(join(dirname(path), file))
            return target if target in self._files else None
        folders = ("lib", "spec", "test", "app")
        candidates = (self.only_file_ending_in(f"{folder}/{file}") for folder in folders)
        return next((candidate for candidate in candidates if candidate), None)


LANGUAGES = (
    Language(
        name="ruby",
        endings=(".rb",),
        minor_endings=(".rake", ".gemspec", ".ru"),
        file_names=("Rakefile", "Gemfile", "Guardfile", "Capfile", "Vagrantfile", "Podfile", "Fastfile"),
        interpreters=("ruby", "jruby"),
        read_imports=_imports,
        packages=RubyPackages,
        has_private_sections=True,
        constructor="initialize",
        calls_own_methods_by_name=True,
        hides_outer_methods=True,
        calls_without_brackets=True,
        has_open_classes=True,
        sees_whole_project=True,
    ),
)
