"""The SQLite backend: one file per user, safe under crashes, concurrent processes and wrong keys.

`store.SqliteStore` implements `Store`. It holds one object per part of the protocol, all on the same `Database`:

    store.py        memories, vectors, links, tags, clusters, gaps, projects, settings, sessions, findings
    changes.py      ChangeLog: list and undo changes
    audit.py        the audit log, a chain of hashes, with an archive file
    reviews.py      ReviewQueue: questions for a person
    modules.py      ModuleMapStore
    events.py       EventStore: events of sessions until they are learnt from
    messages.py     MessageStore
    episodes.py     EpisodeStore: tools, files, tasks, patterns
    ledger.py       CostLedger: calls of language models
    measures.py     MeasureStore: counts and timings
    deliveries.py   DeliveryStore: what agents were told
    pruned.py       PrunedTextStore: texts that left a context window

A write takes this path: the method opens a transaction (`connection.Database.writing`), notes the rows that it is about
to change (`store.journal`), converts values (`store.rows`, `episode_rows`), and writes rows and full text. If a change is being
recorded, `changes.recorded` compares the noted rows with the new ones at the end and stores what differs. A read
borrows a connection from the pool (`Database.reading`) and puts the view into SQL (`views`).

The other modules:

- `connection`: connections, transactions, and SQLite's errors as `RecollectError`s
- `opening`: open the file, check it after a crash, migrate it, or restore a backup
- `schema`: the migrations (`migrations/`), and the version and columns of a file
- `backup`: three rolling backups, and rewriting the file with another key
- `checksums`: a checksum at the end of every page; `repair`: a copy of a file with flipped bits, with the help of a backup
- `rekeying`: finish a change of the encryption that was killed
- `check`: damage, and parts that disagree, for `recollect doctor`
- `purge`: clear projects, and permanently delete what was forgotten
- `single_rows`: rows as undo compares and restores them
- `index_files`: what searches have made of the memories, for other processes
- `full_text`: word search with FTS5; `graph`: memories one hop away
- `ageing`, `views`: conditions as SQL

What it promises beyond `Store`: a damaged file is set aside and a repaired copy or the newest good backup takes its place, with a notice;
a file of a newer version is refused; a migration is one transaction, after a backup.

A write method that does not call the journal cannot be undone: add every new one to `WRITES` in
tests/store/test_journal.py.
"""
