"""The PostgreSQL backend: one database for many teams, in which nobody sees what is not theirs.

`team.PostgresTeam` is what a team server opens: a store for each verified caller, the directory of people, and notices of
what has changed. `store.PostgresStore` implements `Store` for one caller, with the same parts and files as the SQLite
backend:

    store.py        memories, vectors, links, tags, clusters, gaps, projects, settings, sessions, findings
    changes.py      ChangeLog: list and undo changes
    audit.py        the audit log, a chain of hashes per tenant
    reviews.py      ReviewQueue        modules.py      ModuleMapStore
    events.py       EventStore         messages.py     MessageStore
    ledger.py       CostLedger         measures.py     MeasureStore
    deliveries.py   DeliveryStore      local_parts.py  refuses what stays on each machine: episodes, pruned texts
    directory.py    people, invitations, tokens, projects' members, consents, quotas, erasure

Who may see and do what is a table in `access`. `schema` turns it into row-level policies; the server's role owns nothing
and cannot go around them. A call takes this path: `connection.Database` opens a transaction and sets the tenant, user, role
and projects of an `Identity` for it, which only the server makes, from a token; the policies compare every row with them.
No statement names a tenant.

The other modules:

- `connection`: the pool, transactions, the tenant's write lock, PostgreSQL's errors as `RecollectError`s
- `schema`: migrations (`migrations/`), partitions, policies, grants
- `memory_rows`, `single_rows`: memories as rows, and rows as undo compares them
- `views`, `ageing`, `words`, `graph`: views, expiry, word search and neighbours as SQL
- `forgetting`: clear a project, purge what was forgotten
- `check`: whether the parts of a store agree

psycopg is an extra: install `recollect[team]`.
"""
