"""Texts to vectors, by the model that comes with Recollect, another ONNX model, or a server.

Every embedder implements `recollect.context.embedder.Embedder`: it returns one unit vector per text, can be used from any thread,
and raises only `EmbedderUnavailable`. Creating one is free; models are loaded and servers called for the first text.

- `open`: `open_embedder`, the only place that knows which embedders there are, and `NoEmbedder` for search by words only.
- `minilm`: all-MiniLM-L6-v2, bundled, or another ONNX model on disk.
- `one_text`: MiniLM on NumPy alone, for the first texts of a command.
- `word_pieces`: BERT's tokenizer, which MiniLM uses.
- `catalogue`: optional models, where each can be had, and those in the home.
- `http`: a server with OpenAI's `/v1/embeddings`.
- `pair_reader`: a bundled model that reads two statements at once and says how they relate.
- `inference`: an optional model of natural-language inference: whether two texts contradict each other.
- `heap`: memory that native libraries hold without using it.
- `batches`: embedding ahead of the consumer on threads, and scaling rows to unit length.
"""
