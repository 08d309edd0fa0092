"""Everything about programming languages: one folder per language or group of languages.

A language is a row (`language.Language`) in the `LANGUAGES` of its folder, with a tree-sitter query beside it. Its
files take this path:

1. `table.language_of` says which language a file is in, by its ending, its name or its first line. It is the only table
   of file endings in the project.
2. `parser.parse` makes a syntax tree with the language's grammar and turns it into `FileFacts`. It never raises.
3. `resolver.resolver_for` returns the resolver of a family, which turns the facts of all its files into edges.

Steps 2 and 3 use the sub-package that the row names as its `reader`:

- `plain` serves most languages: `parse` reads the captures of the query, `resolver` finds edges without following all
  types, and `packages` has what languages use to find the file or package that an import means. What tells the
  languages apart is in their rows.
- `python` and `script` (JavaScript and TypeScript) have parsers and resolvers of their own, which follow types.
- `config` (JSON, YAML, TOML) yields an outline of keys, without values and without edges.

The folders of the plain languages are `go`, `rust`, `java` (with Kotlin), `c` (with C++), `ruby`, `csharp`, `php` and
`bash`. Each contains the query, a function that reads import statements, and a `Packages` class.

- `language`: the row, with a comment on every field
- `table`: all rows, and the endings of languages that have no grammar here
- `parser`, `resolver`: the two entry points, and the `Resolver` protocol
- `syntax`: what several parsers share: chains, comments, spans

It is called by `code.graph`, and by `memory.anchors` for single symbols; it calls nothing but `facts` and `nodes`.
Facts of a file depend on its bytes alone, so they can be stored by its hash. A grammar is imported when the first file
of its language is parsed.

To add a language, follow CONTRIBUTING.md: a folder, a row, a query and a test.
"""
