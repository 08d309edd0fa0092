"""Search: from a query to ranked memories, each with the reasons for its rank.

The path of a query:

1. **Query** (`search.SearchQuery`): the text, what the user may see (a view), filters, and files that are open.
2. **Words** (`channels.match_words`): the query becomes terms, which `query_expansion` widens by the project's
   `aliases` and by what everyday words mean, and `activities` adds the words of rules for that kind of work; BM25 scores
   every memory. It runs while the embedding model makes the query's vector.
3. **Meaning** (`channels.score_all`): the cosine between that vector and every memory. `fusion` adds both up, and the
   best become candidates.
4. **Graph** (`channels.expand_graph`, `graph`): memories that are linked to good candidates join them.
5. **Score** (`recipes`): the candidates are read from the store and scored in full: relevance, graph, open files,
   kind, confidence.
6. **Answer** (`search.Searcher`): the best hits with their reasons. A channel that is late is left out, and the answer
   is marked as partial (`latency`).

- `search`: `Searcher`, which runs these steps, and the same over messages and sessions, without a graph
- `channels`: words, meaning and graph, each on its own thread with a deadline
- `fusion`: coverage and cosine on one scale, and what each part contributed
- `recipes`: named scores; `default` is ours, the `seed-…` ones reproduce published formulas
- `graph`: from hits to linked memories, and `similar`
- `memory_graph`: memories, tags, clusters and links as one graph, for a person to look at
- `aliases`, `query_expansion`, `activities`: what else to look for
- `dates`: the days that a question about messages means
- `latency`: how fast searches were, and deadlines
- `usefulness`: the probability that a hit is useful to an agent
- `requests`: requests that need nothing a project remembers
- `topic`: whether anything in view answers a question at all
- `triggers`: warnings whose trigger a text contains; it does not rank

`Retrieval` calls it for `recollect search`, MCP, Python and `work.delivery`. It reads
`recollect.memory.index` for words and vectors, and the store for memories and links.

It promises that a search changes nothing, that nothing outside the view is read or shown, that every hit explains its
score by its parts, and that an answer comes within the deadline once the index has been read.

All weights and thresholds are in `recollect.memory.ranking`, which says how to make recency or a kind count more. Run
`python -m bench.recall` before and after; docs/recall.md explains the ranking.
"""
