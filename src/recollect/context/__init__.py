"""What every part of Recollect is given: the `Context`, and the protocols of the services in it.

The package is in the bottom layer and imports only `model`, `config`, `kinds` and `errors`. The protocols are here and
not beside their implementations, so that every layer can name them without importing a backend.

- `context`: `Context`, with the settings, store, embedder, clock, actor, project and folder
- `project`: finds the project that a folder belongs to
- `store`: the `Store` protocol, which every storage backend implements
- `embedder`: the `Embedder` protocol
"""
