"""Move memories between machines: exports, bundles, imports and mirrors.

`transfer` is the part that the engine holds; it opens the other modules when they are needed.

Out:

- `export` writes all that a view shows as one JSON document with a record per line
- `bundle` encrypts these lines with a passphrase
- `markdown` writes pages to read

In:

- `import_file` checks a file to its end, line by line, before the first record is used
- `record` reads each record as a memory, a link, a session…, with the types of `fields`, which remove secrets
- `importer` stores the memories, links and projects in batches, each in one transaction
- `import_extras` stores the other sections: sessions, findings, gaps, reviews, module maps, patterns
- `join` joins a memory that exists already with the imported version
- `import_report` collects the outcome

Both ways: `mirror` keeps a folder of JSON files in step with the store. Edits in the files pass through
`write.MemoryWriter.rewrite`, like those of the command line.

It is called by `recollect export`, `import` and `mirror`, and by `Engine.export` and its like. docs/transfer.md
describes the format.

The package promises:

- An export that is imported and exported again has the same bytes.
- Joining is commutative, associative and idempotent, so machines that exchange exports in any order agree.
- A record that breaks a rule is refused with its field, and the others are kept. Secrets never reach the store.
- An agent imports into its own project only, as its own words.
- An import is one change, and `recollect undo` takes it back.

To add a field to memories, add it to `record.ForeignMemory`; to add a section, add it to `export` and `import_extras`.
"""
