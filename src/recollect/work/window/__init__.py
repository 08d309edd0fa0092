"""The context window: a conversation that never exceeds a model's limit, with what left it still available.

The data's path through the modules:

    adapters.py        messages of an API become items and back; `fit` shortens a plain list of messages
    anthropic.py       the message format of Anthropic's API
    openai.py          the message format of OpenAI's chat API
    forms.py           functions that both formats share
    item.py            `ContextItem` and the parts it is made of, with token counts
    pairs.py           tool calls and their results as units that stay or leave together
    relevance.py       how relevant an item is now
    prune.py           which units leave a full window, and the stubs in their place
    trim.py            shortening of a single item that is too large
    gist.py            one-line summaries for stubs
    pruned_texts.py    where texts that left the window are stored, redacted
    sources.py         code, past work and memories to add to a message
    window_log.py      snapshots of the window in episodes
    backing.py         the methods of an engine that a window uses
    window.py          `ContextWindow`, which puts these together

Two modules serve hooks rather than windows: `outputs.py` shortens tool output, and `rewrite.py` returns it in
the shape that a host requires. `rules.py` is a debugging aid: it says why an API would reject a list of messages.

Promises: what `messages` and `prepare` return never exceeds `max_tokens` and is valid for its API; every removed
text can be restored by its id while it is stored; hidden reasoning is never stored.
"""
