"""Everything about programming languages: one folder per language or group of languages.

A language is a row (`language.Language`) in the `LANGUAGES` of its folder, with a tree-sitter query beside it; `table` has
all rows and says which language a file is in. `parser.parse` turns a file into facts, and `resolver.resolver_for` returns
the resolver that turns the facts of all files into edges. Both use the sub-package that the row names as its `reader`:

- `plain` serves most languages. Their folders (`go`, `rust`, `java`, `c`, `ruby`, `csharp`, `php`, `bash`) contain the query, a
  function that reads import statements, and how packages are found.
- `python` and `script` (JavaScript and TypeScript) have parsers and resolvers of their own, which follow types.
- `config` (JSON, YAML, TOML) yields an outline without edges.

`syntax` has what several parsers share. To add a language, follow CONTRIBUTING.md.
"""
