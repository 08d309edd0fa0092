"""*Graph*: memories, tags, clusters and links as a picture, with the same as a list beside it."""

from starlette.responses import JSONResponse, Response

import recollect.model as m
from recollect.interfaces.web.language import text
from recollect.interfaces.web.page import Page, WebRequest
from recollect.kinds import KINDS
from recollect.memory.search.memory_graph import CLUSTER, TAG, MemoryGraph, memory_graph

LISTED = 60  # nodes in the list beside the picture
FAMILIES = tuple(dict.fromkeys(kind.family for kind in KINDS.values()))


def show(request: WebRequest) -> Response:
    """Show the page: the picture is drawn by the script, the list beside it reads without one."""
    made = request.get("made")
    graph = request.engines.graphs.get(made)
    if graph is None:
        graph = _graph(request)
        made = request.engines.graphs.keep(graph)
    degrees = graph.degrees()
    chosen = graph.position(request.get("node"))
    hits = _hits(request)
    if hits is not None:
        places = [place for name in hits if (place := graph.position(f"m:{name}")) is not None]
    else:
        places = sorted(range(len(graph.nodes)), key=lambda place: (-degrees[place], place))
    return request.render(
        "graph.html",
        graph=graph,
        made=made,
        degrees=degrees,
        places=places[:LISTED],
        node=graph.nodes[chosen] if chosen is not None else None,
        neighbours=graph.neighbours(chosen) if chosen is not None else [],
        families=FAMILIES,
        groups=(*FAMILIES, TAG, CLUSTER),
        family=request.get("family"),
        tag=request.get("tag"),
        query=request.get("q"),
    )


def show_data(request: WebRequest) -> Response:
    """Return the graph for the script: labels, groups and ends of links, as short as possible."""
    graph = request.engines.graphs.get(request.get("made")) or _graph(request)
    hits = _hits(request) or ()
    found = [place for name in hits if (place := graph.position(f"m:{name}")) is not None]
    return JSONResponse(
        {
            "keys": [node.key for node in graph.nodes],
            "labels": [node.label for node in graph.nodes],
            "groups": [node.group for node in graph.nodes],
            "links": [
                (link.source, link.target, int(link.relation not in (TAG, CLUSTER))) for link in graph.links
            ],
            "hits": found,
        }
    )


def _graph(request: WebRequest) -> MemoryGraph:
    engine = request.engine
    view = engine.context.view(all_projects=request.all_projects)
    projects: list[str | None] = [None, engine.context.project_id]
    if request.all_projects:
        projects = [None, *(project.id for project in request.engines.projects())]
    family = request.get("family")
    return memory_graph(
        engine.store,
        view,
        dict.fromkeys(projects),
        family=family if family in FAMILIES else "",
        tag=request.get("tag").strip().lstrip("#") or None,
    )


def _hits(request: WebRequest) -> list[str] | None:
    """Return the ids of the memories that a search finds; None without a search. Looking leaves no trace."""
    query = request.get("q").strip()
    if not query:
        return None
    view = request.engine.context.view(all_projects=request.all_projects)
    answer: m.Answer = request.engine.retrieval.search(query, LISTED, noted=False, view=view)
    return [hit.memory.id for hit in answer.results]


PAGE = Page(
    "graph",
    text("Graph"),
    "/graph",
    show,
    key="h",
    icon="graph",
    more={"/graph/data": show_data},
)
