"""The team server: memories that several people and their agents share. `recollect team serve` runs it.

A request takes this path:

1. `app` reads it within its limits, and `tokens` verifies the bearer token: tenant, person and role come from there and
   from nowhere else. `limits` refuses what is too much.
2. `app` looks the operation up in `remote.operations`, checks that token and role allow it, and validates the arguments.
3. `engines` lends an `Engine` on a store with the rights of the caller. The engine checks everything again that the
   client has checked: redaction, sizes, limits of agents, the project. The database checks who may see and change what.
4. A write runs in one transaction together with its idempotency key, so that a repeated request is answered and not run.

- `app`: routes, errors and logs; `bodies`: what requests hold
- `tokens`: bearer tokens and invitation codes; their hashes are what is stored
- `oidc`: sign-in with an identity provider
- `limits`: requests per person, agent and tenant
- `feed`: live updates: notices of the database to streams of clients
- `jobs`: erasures that are due, and what a team no longer keeps
- `engines`: engines of callers, kept for a while
- `browser`: the memory browser for people who log in, with the pages of `interfaces/web`; `pages`: those of a team
- `client_vectors`: vectors that a client makes itself
- `metrics`: counters and timings for Prometheus
- `openapi`: the document, made from the table of operations
- `server`: uvicorn, TLS and shutdown

What it promises:

- Nothing in a body or header can widen what a token may do.
- Logs and metrics hold names of operations, ids and times; never a text, a query or a token.
- A server holds no state that matters: any number of them can serve one database, and each may be killed at any time.
"""
