"""Turn the syntax tree of a JavaScript or TypeScript file into facts.

Chains begin with `this` or `super` where the code does. Exports are bindings of the file: `exports.name`, `exports.default`,
and `module.exports` for the whole file. A function's `return` is bound to what it returns. A getter has the decorator
`get`, a namespace has `namespace`.
"""

from operator import attrgetter

from tree_sitter import Tree

from recollect.code.facts import FileFacts
from recollect.code.languages.script.bindings import bindings_of, exports_of, with_exports
from recollect.code.languages.script.definitions import Definitions
from recollect.code.languages.script.nodes import SyntaxNodes
from recollect.code.languages.script.references import imports_of, references_of
from recollect.code.languages.syntax import Comments

_line = attrgetter("line")


def facts(tree: Tree, source: bytes, language: str) -> FileFacts:
    root = tree.root_node
    read = SyntaxNodes(root, source, language)
    comments = Comments(read.nodes("comment"), source)
    definitions = Definitions(read, comments)
    imports = imports_of(read, definitions)
    bindings = [*exports_of(read, definitions), *bindings_of(read, definitions)]
    return FileFacts(
        language,
        tuple(with_exports(definitions.found, bindings)),
        tuple(sorted(imports, key=_line)),
        tuple(sorted(references_of(read, definitions, imports), key=_line)),
        tuple(sorted(bindings, key=_line)),
        doc=comments.of_file(root, {found.line - 1 for found in definitions.found}),
        broken=root.has_error,
    )
