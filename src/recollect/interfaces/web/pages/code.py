"""*Code*: the module map with corrections in place, what a task is about, and who calls a symbol."""

from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlencode

from starlette.responses import Response

from recollect.interfaces.web.charts import call_picture
from recollect.interfaces.web.language import text, texts
from recollect.interfaces.web.page import Page, WebRequest

if TYPE_CHECKING:
    from recollect.engine import Engine

DRAWN = 12  # callers, and as many callees, in the picture of a call graph; the table has all
LISTED = 300  # edges in such a table
MATCHES = 20  # symbols to choose from when several have the name


def show(request: WebRequest) -> Response:
    """Show the modules of the project."""
    engine = request.engine
    modules = engine.maps.known() if engine.project else None
    return request.render(
        "code.html", modules=modules, readable=_is_readable(engine), has_graph=engine.codebase.exists
    )


def show_task(request: WebRequest) -> Response:
    """Show the files, symbols, lines and modules that a task is about, with the reasons."""
    engine = request.engine
    task = request.get("q").strip()
    if not task or not _is_readable(engine) or not engine.codebase.exists:
        return request.redirect(f"/code?{urlencode({'p': request.project})}")
    found = engine.relevant(task, patient=False)
    known = engine.maps.known()
    modules = engine.maps.for_task(task, [hit.path for hit in found.files]) if known else []
    return request.render("code_task.html", task=task, found=found, modules=modules)


def show_symbol(request: WebRequest) -> Response:
    """Show who calls a symbol and what it calls, as a picture and as a table."""
    engine = request.engine
    name = request.get("q").strip()
    if not name or not _is_readable(engine) or not engine.codebase.exists:
        return request.redirect(f"/code?{urlencode({'p': request.project})}")
    graph = engine.code.graph
    possible = request.get("possible") == "1"
    symbols = graph.find(name)
    if len(symbols) != 1:
        near = () if symbols else graph.near(name)
        return request.render(
            "code_symbols.html", name=name, symbols=symbols[:MATCHES], count=len(symbols), near=near
        )
    (symbol,) = symbols
    calls_to, calls_from = graph.callers(symbol.id, possible), graph.callees(symbol.id, possible)
    callers = list(dict.fromkeys(edge.source for edge in calls_to))
    callees = list(dict.fromkeys(edge.target for edge in calls_from))
    return request.render(
        "code_symbol.html",
        symbol=symbol,
        possible=possible,
        callers=[(edge, graph.symbol(edge.source)) for edge in calls_to[:LISTED]],
        callees=[(edge, graph.symbol(edge.target)) for edge in calls_from[:LISTED]],
        picture=call_picture(symbol.id, callers[:DRAWN], callees[:DRAWN]),
        left_out=max(len(callers) - DRAWN, 0) + max(len(callees) - DRAWN, 0),
    )


def read(request: WebRequest) -> Response:
    """Read the files of the project that changed, and scan its modules again. Corrections stay."""
    engine = request.engine
    done = engine.code.refresh()
    modules = engine.maps.rescan().modules
    message = texts(
        "Read %d file that was new or changed.", "Read %d files that were new or changed.", done.parsed
    )
    count = texts("The project has %d module.", "The project has %d modules.", len(modules))
    return request.done(f"{message % done.parsed} {count % len(modules)}")


def correct(request: WebRequest) -> Response:
    """Correct a module, for all later scans."""
    from recollect.code.modules.merge import Correction

    engine = request.engine
    module = engine.maps.current().find(request.field("module"))
    new_name, description = request.field("name").strip(), request.field("description").strip()
    dependencies = tuple(_words(request.field("dependencies")))
    correction = Correction(
        name=new_name if new_name and new_name != module.name else None,
        description=description if description != module.description else None,
        dependencies=dependencies if dependencies != module.dependencies else None,
        add_files=tuple(_words(request.field("add_files"))),
        remove_files=tuple(request.fields("remove_file")),
        merge_with=request.field("merge_with") or None,
        split_off=request.field("split_off").strip() or None,
    )
    change = engine.context.new_change("correct")
    changed = engine.maps.correct(module.key, correction, change.id)
    return request.done(text("%s is corrected. Later scans keep that.") % changed.name, change.id)


def _words(field: str) -> list[str]:
    """Return what is written in a field, separated by commas or lines."""
    return [part.strip() for part in field.replace("\n", ",").split(",") if part.strip()]


def _is_readable(engine: "Engine") -> bool:
    """Return whether the project's folder is on this machine."""
    return engine.project is not None and Path(engine.project.root).is_dir()


PAGE = Page(
    "code",
    text("Code"),
    "/code",
    show,
    key="d",
    icon="code",
    more={"/code/task": show_task, "/code/symbol": show_symbol},
    actions={"/code/read": read, "/code/correct": correct},
)
