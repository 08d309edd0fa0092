"""Memories that a team server keeps: what the client and the server agree on, and the client's side of it.

After `recollect login` the memories of a home are on a server. `Engine.open` then gives the engine parts of this package:
they have the methods of `Memories`, `Retrieval`, `Maintenance`, `Composer` and `Sessions`, and ask the server for
everything about memories. Code graph, sessions, episodes and pruned texts stay on this machine, in an encrypted store of
their own below `teams/` in the home, which never holds a memory. The local store of the home is not opened.

A call takes this path: a part calls `TeamClient.call` with the name of an operation; `wire` turns arguments and results
into JSON and back; `interfaces.team` looks the operation up in `operations.OPERATIONS`, checks everything again with
the rights of the token, and runs it on an `Engine` of its own.

- `operations`: the table of operations: name, arguments, result, what a token needs, and the function
- `administration`: operations for people, tokens and projects, and `results`, what they return
- `analytics`: what a team runs into most
- `secrets`: tokens and invitation codes, and their hashes
- `wire`: JSON for arguments and results, errors included
- `client`: requests to the server; raises `Offline` if it does not answer
- `login`: which server this home uses, and where the token is kept
- `sign_in`: the device flow of an identity provider
- `migration`: the way of local memories to a team, and back
- `export`: what a team has stored, as JSON and Markdown
- `outbox`: what agents learnt while the server was away, sealed, delivered once
- `private`: the same parts in private mode, with memories that stay on this machine
- `updates`: live updates from the server
- `parts`: the parts of an engine

What it promises:

- No memory is read from or written to this machine while a home is logged in, except what waits in the outbox, and what
  is private in private mode: in the encrypted store of the login.
- Without the server, commands fail with `Offline`. Hooks go on without memory, within their usual deadlines.
"""
