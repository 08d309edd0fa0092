"""What every part of Recollect is given: who is at work, in which project, with which store and embedder.

The package is the bottom layer: it imports only `model`, `config`, `kinds` and `errors`. The protocols that a `Context`
is typed with live here too, so that a part can name them without importing a backend.

- `store`: the `Store` protocol, which every storage backend implements
- `embedder`: the `Embedder` protocol
"""
