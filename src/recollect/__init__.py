"""Long-term memory for coding agents.

    from recollect import Engine

    with Engine.open() as memory:
        memory.remember("Tests need a running Redis", kind="gotcha")
        for hit in memory.search("why do the tests fail?").results:
            print(hit.memory.content)

This is the only supported import path. A name is loaded when it is asked for: the hooks of a host start this
package many times an hour, and need none of them.

The layers, from top to bottom; a module imports only from layers below its own:

- `interfaces`: the command line, the MCP server, hooks, the daemon, and the installation into hosts; `demo`
- `engine`: `Engine`, which opens everything, holds the parts and offers the verbs above
- `work`: sessions, transcripts, hosts, past work, the context window
- `memory`: memories, written, searched, put into briefings, maintained and transferred
- `code`: the code graph, the files a task is about, the module map
- `store`, `embed`, `llm`, `text`: storage, vectors, language models, words and redaction
- `context`: what every part is given, and the protocols of the store and the embedder
- `policy`: the table of what each actor may do to whose memory
- `model`, `kinds`, `config`, `errors`, `frozen`: values, the table of kinds, settings, errors, classes that are quick to make

CONTRIBUTING.md says where to find things, and the docstring of each package how its modules work together.
"""

TYPE_CHECKING = False  # importing typing for it would cost a hook as much as all of its work
if TYPE_CHECKING:
    from recollect.engine import Engine
    from recollect.errors import RecollectError
    from recollect.interfaces.anthropic_memory import AnthropicMemoryTool
    from recollect.model import Answer, Hit, Link, Memory, Receipt
    from recollect.work.agent.memory_agent import MemoryAgent
    from recollect.work.window.adapters import fit
    from recollect.work.window.window import ContextWindow

__version__ = "0.2.0"
__all__ = [
    "Answer",
    "AnthropicMemoryTool",
    "ContextWindow",
    "Engine",
    "Hit",
    "Link",
    "Memory",
    "MemoryAgent",
    "Receipt",
    "RecollectError",
    "__version__",
    "fit",
]

_HOMES = {
    "AnthropicMemoryTool": "recollect.interfaces.anthropic_memory",
    "ContextWindow": "recollect.work.window.window",
    "Engine": "recollect.engine",
    "MemoryAgent": "recollect.work.agent.memory_agent",
    "RecollectError": "recollect.errors",
    "fit": "recollect.work.window.adapters",
    **dict.fromkeys(("Answer", "Hit", "Link", "Memory", "Receipt"), "recollect.model"),
}

if not TYPE_CHECKING:

    def __getattr__(name):
        if name not in _HOMES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from importlib import import_module

        found = globals()[name] = getattr(import_module(_HOMES[name]), name)
        return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
