"""The SQLite backend: one file per user.

`store.SqliteStore` implements `Store`, with one module for each of its parts: `messages`, `episodes`, `events`, `ledger`,
`measures`, `pruned`, `reviews`, `modules`, `changes`, `audit`. A call goes through `connection.Database`, which hands out
connections and translates SQLite's errors.

- `opening`: open, check, migrate (`migrations/`) or restore the file; `backup`: three rolling backups, and rekeying.
- `check`: damage, and parts that disagree; `purge`: clearing projects and deleting for good.
- `rows`, `episode_rows`: values to rows and back; `views`, `ageing`: conditions as SQL.
- `full_text`, `graph`: word search and neighbours.
"""
