"""Move memories between machines: exports, bundles, imports and mirrors.

`transfer` is the part that the engine holds; it opens the other modules when they are needed.

Out: `export` writes all that a view shows as one JSON document with a record per line; `bundle` encrypts these lines with
a passphrase; `markdown` writes pages to read.

In: `import_file` checks a file to its end and counts its records; `record` reads each one with the types of
`fields`, which remove secrets; `importer` stores the memories, links and projects, `import_extras` the rest; both
put the outcome into an `import_report`. A memory that exists already is joined with the imported version by `join`.

Both ways: `mirror` keeps a folder of JSON files in step with the store.

The package promises:

- An export that is imported and exported again has the same bytes.
- Joining is commutative, associative and idempotent, so machines that exchange exports in any order agree.
- A record that breaks a rule is refused with its field, and the others are kept. Secrets never reach the store.
- An import is one change, and `recollect undo` takes it back.
"""
