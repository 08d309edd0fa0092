"""A language: one row with everything the parser, the resolver and the scan need to know about it."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from recollect.code.facts import FileFacts, Import

if TYPE_CHECKING:
    from recollect.code.languages.plain.packages import Packages

ReadConfig = Callable[[str], bytes | None]  # the contents of a configuration file; None if there is none


@dataclass(frozen=True, kw_only=True)
class Language:
    name: str

    # Which files are in it.
    endings: tuple[str, ...]  # of file names, in lower case
    minor_endings: tuple[
        str, ...
    ] = ()  # parsed, but not counted as code of the project: build scripts, templates
    file_names: tuple[str, ...] = ()  # whole file names
    interpreters: tuple[str, ...] = ()  # in a first line that begins with `#!`
    is_data: bool = False  # configuration: it has keys, and neither code nor edges

    # How a file is parsed and resolved.
    reader: str = (
        "plain"  # the sub-package with the parser and the resolver: "plain", "python", "script" or "config"
    )
    folder: str = ""  # below `languages`, with the queries; "" = named like the language
    queries: tuple[str, ...] = ()  # without their ending, all asked at once; () = named like the language
    grammar: str = ""  # the module of the tree-sitter grammar; "" = "tree_sitter_" and the name
    grammar_function: str = "language"
    has_single_quoted_strings: bool = (
        False  # False = a single quote may be something else, such as a lifetime
    )
    config_files: tuple[str, ...] = ()  # file names that decide where imports lead
    constructor: str = ""  # the method that creates an instance; "" = it is named like the class

    # For `plain` alone: what tells these languages apart.
    read_imports: Callable[[str], Iterator[Import]] | None = None  # from the text of one import statement
    packages: "Callable[[Mapping[str, FileFacts], ReadConfig], Packages] | None" = None
    shares_names_with: str = ""  # another language whose files see this one's names, and the other way round
    hidden_after: bytes = b""  # a pattern: what it precedes cannot be used by other files
    exported_after: bytes = b""  # a pattern: only what it precedes can be used by other files
    exports_capitalised: bool = False  # a name is exported if it begins with a capital letter
    exports_all_classes: bool = False  # whatever `exported_after` says
    has_private_sections: bool = False  # methods after a line `private` are not exported
    has_qualified_names: bool = False  # a method may be defined outside its class as `Class::method`
    calls_own_methods_by_name: bool = False  # `run()` in a method may mean `self.run()`
    hides_outer_methods: bool = False  # such a name means no method of the classes around the innermost one
    calls_without_brackets: bool = False
    has_open_classes: bool = False  # a class may be defined in several places
    sees_whole_project: bool = False  # a class is seen everywhere, once any file has loaded it
    links_by_name: bool = False  # an exported function is the only one of its name in the program
    imports_exported_only: bool = False  # an import brings in no hidden names
    nests_namespaces: bool = False  # a qualified name says nothing about the file it is in
    super_is_module: bool = False  # `super` is the module above, not the base class
    names_receiver: bool = False  # a method names the instance it is called on in its first line
    ends_annotations_in: str = ""  # the end of a class's name that annotations leave out
    returns_several: bool = False  # the first of several returned values counts
