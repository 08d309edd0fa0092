"""Search: from a query to ranked memories, each with the reasons for its rank.

The path of a query:

1. **Query** (`search.SearchQuery`): the text, what the user may see (a view), filters, and files that are open.
2. **Words** (`channels.match_words`): the query becomes terms, which `query_expansion` widens by the project's `aliases` and by what
   everyday words mean; BM25 scores every memory. It runs while the embedding model makes the query's vector.
3. **Meaning** (`channels.score_all`): the cosine between that vector and every memory. `fusion` adds both up, and the best
   become candidates.
4. **Graph** (`channels.expand_graph`, `graph`): memories that are linked to good candidates join them.
5. **Score** (`recipes`): the candidates are read from the store and scored in full: relevance, graph, files at hand, kind,
   confidence.
6. **Answer** (`search.Searcher`): the best hits with their reasons. A channel that is late is left out, and the answer is
   marked as partial (`latency`).

Steps 2 and 3 read `recollect.memory.index`. All weights and thresholds are in `recollect.memory.ranking`. Messages of sessions
are searched in the same way, without a graph. `triggers` finds warnings whose trigger a text contains; it does not rank.
"""
