"""A home that has something to show on every page of the memory browser: a small shop, after some weeks of work."""

import subprocess
from datetime import UTC, datetime, timedelta
from pathlib import Path

import recollect.model as m
from recollect import Engine
from recollect.context.embedder import Embedder
from recollect.demo import FILES
from recollect.work.delivery.delivery import DeliveryRequest, Moment
from recollect.work.delivery.told import Told

START = datetime.now(UTC) - timedelta(days=46, hours=6)  # so that it ends today
ASKED = "Users are logged out after five minutes because tokens expire: keep them logged in for a day"
# Text, kind, tags and files; a day passes between two of them.
MEMORIES = (
    ("Prices are stored in cents; divide only when you show them", "fact", ("money",), ("shop/orders.py",)),
    ("Redis must be running before the tests: start it with `make redis`", "gotcha", ("tests",), ("shop/keystore.py",)),
    ("Never run npm install on CI: it rewrites the lock file", "negative", ("ci",), ()),
    ("Use pnpm, not npm, in this repository", "human_feedback", ("tools", "ci"), ()),
    ("`renew` in `shop/auth/tokens.py` gives a new access token and keeps the refresh token", "fact", ("login",), ("shop/auth/tokens.py",)),
    ("Orders are written before the payment is asked for, so that a retry finds them", "architecture", ("orders", "money"), ("shop/orders.py",)),
    ("We chose opaque tokens over JWT, because they can be revoked at once", "decision", ("login",), ("shop/auth/tokens.py",)),
    ("Reviewers ask for a changelog entry in every pull request", "pr_pattern", ("review",), ()),
    ("Review of the cart change: name the currency in every amount", "pr_pattern", ("review", "money"), ()),
    ("Release: tag, wait for CI, then run make publish", "procedure", ("release",), ()),
    ("Handlers return dictionaries; the server turns them into JSON", "convention", ("api",), ("shop/server.py",)),
    ("Login attempts are limited to five in fifteen minutes", "fact", ("login",), ("shop/auth/limits.py",)),
    ("Access tokens expire after five minutes; users are logged out when `renew` fails", "gotcha", ("login",), ("shop/auth/tokens.py",)),
    ("The front end renews the session on every page", "fact", ("login", "web"), ("web/session.ts",)),
    ("Ada prefers short answers with the command to run", "preference", (), ()),
    ("Staging listens on port 9090", "fact", ("staging",), ()),
    ("Tests of the API start the server on a free port", "convention", ("tests", "api"), ()),
    ("Carts expire after two weeks without a change", "fact", ("orders",), ("shop/carts.py",)),
    ("Products are read from a file at the start, not from the database", "architecture", ("api",), ()),
)  # fmt: skip


class MovableClock:
    def __init__(self) -> None:
        self.now = START

    def __call__(self) -> datetime:
        return self.now

    def advance(self, **span: float) -> None:
        self.now += timedelta(**span)


def fill(folder: Path, embedder: Embedder | None = None) -> tuple[Engine, dict[str, str]]:
    """Return an engine for the project *shop* below `folder`, and the ids of some memories by a word of them."""
    home, project, bank = folder / "home", folder / "shop", folder / "bank"
    home.mkdir(mode=0o700)
    for place in (project, bank):
        place.mkdir()
    _write_code(project)
    clock = MovableClock()
    engine = Engine.open(project, home, clock=clock, embedder=embedder)
    engine.context.register_project()
    engine.code.refresh()
    engine.maps.rescan()
    ids = _remember(engine, clock)
    _work(engine, clock)
    _sessions(engine, clock, ids)
    _questions(engine, clock, ids, project)
    with Engine.open(bank, home, clock=clock, embedder=embedder) as other:
        other.remember("The bank closes its books at five", kind="fact")
    clock.now = datetime.now(UTC)  # so that files that were just written are not from the future
    return engine, ids


def _write_code(project: Path) -> None:
    for name, text in FILES.items():
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        (project / name).write_text(text, "utf-8")
    author = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org"]
    for arguments in (["init", "-qb", "main"], ["add", "."], ["commit", "-qm", "The shop"]):
        subprocess.run(["git", *author, *arguments], cwd=project, check=True)


def _remember(engine: Engine, clock: MovableClock) -> dict[str, str]:
    ids = {}
    for text, kind, tags, files in MEMORIES:
        steps = ("Tag the commit", "Wait for CI", "Run make publish") if kind == "procedure" else ()
        made = engine.remember(text, kind=kind, tags=tags, file_paths=files, steps=steps)
        ids[text.split()[0].strip("`").lower()] = made.id
        clock.advance(days=2.4)
    engine.pin(ids["use"])
    engine.feedback(ids["redis"], True)
    engine.link(ids["orders"], ids["prices"])
    engine.link(ids["the"], ids["login"])
    engine.remember("The payment key is " + "sk_" + "live_" + "4eC39HqLyjWDarjtT1zdp7dc", kind="fact")
    engine.forget(engine.remember("The old till prints twice", kind="fact").id)
    clusters = [
        m.Cluster("c1", engine.context.project_id, "Logging in", "fake", b"", (ids["login"], ids["the"], ids["renew"], ids["we"]), clock()),
        m.Cluster("c2", engine.context.project_id, "Money and orders", "fake", b"", (ids["prices"], ids["orders"], ids["carts"]), clock()),
    ]  # fmt: skip
    engine.store.put_clusters(engine.context.project_id, clusters)
    return ids


def _work(engine: Engine, clock: MovableClock) -> None:
    """Three weeks of tools, tasks and a failure with its fix."""
    owner = m.Owner(engine.context.user_id, engine.context.project_id)
    episodes, now = engine.store.episodes, clock()
    for number, name in enumerate(("Keep users logged in for a day", "Round the totals of orders")):
        task = m.Task(f"t{number}", "5f2c", name, now - timedelta(days=number + 1))
        episodes.start(owner, task, name.lower())
    executions = [
        m.ToolExecution(f"k{day}-{n}", now - timedelta(days=day + 1, minutes=n), "w0", tool, {"n": n}, (day * 7 + n) % 6 != 0, "t1", duration_ms=40 + 13 * n)
        for day in range(21)
        for n, tool in enumerate(("Edit", "Bash", "Read", "Bash", "Edit", "Grep", "Read")[: 3 + day % 5])
    ]  # fmt: skip
    touches = [
        m.FileTouch(f"f{n}{path}", now - timedelta(hours=n), "5f2c", path, m.FileOperation.EDIT, task="t1")
        for n in range(4)
        for path in ("shop/orders.py", "shop/carts.py", "shop/auth/tokens.py")
    ]
    episodes.add(owner, executions, touches)
    data = {
        "failure": {"head": "pytest", "lines": [["Connection refused", []]]},
        "error": "redis.exceptions.ConnectionError: Error 111 connecting to localhost:6379",
        "command": "pytest",
        "files": [],
        "commands": ["make redis"],
        "instead": "",
    }
    episodes.add_sighting(owner, m.PatternSighting(m.ERROR_FIX, "a fix", data, "k", now))


def _sessions(engine: Engine, clock: MovableClock, ids: dict[str, str]) -> None:
    """Two sessions: what was asked, told, done and learnt. Three without memory are what they are compared with."""
    for number, tokens in enumerate((11_800, 14_200, 12_700)):
        for count, value in {"edited": 1, "discovery_tokens": tokens}.items():
            engine.measures.note(count, value, f"w{number}")
    store, user, project = engine.store, engine.context.user_id, engine.context.project_id
    owner = m.Owner(user, project)
    for name, host, asked, answer in (
        (
            "9b1d",
            "codex",
            "Round the totals of orders to whole cents",
            "Done: `total` rounds once, at the end.",
        ),
        (
            "5f2c",
            "claude-code",
            ASKED,
            "The lifetime in shop/auth/tokens.py was five minutes; it is a day now.",
        ),
    ):
        engine.sessions.start(name, host=host, branch="main")
        told = Told()
        for moment, text in ((Moment.START, ""), (Moment.PROMPT, asked)):
            engine.delivery.compose(DeliveryRequest(moment, text, session=name, host=host), told)
            clock.advance(seconds=4)
        engine.delivery.note_used(name, [ids["renew"], ids["we"]])
        engine.delivery.flush()
        store.messages.put(
            [m.Message(name, 0, "user", asked, clock(), user, project), m.Message(name, 1, "assistant", answer, clock(), user, project)],
            None,
            None,
            clock(),
        )  # fmt: skip
        calls = [
            m.ToolExecution(f"{name}1", clock(), name, "Read", {"file_path": "shop/auth/tokens.py"}, True, duration_ms=9),
            m.ToolExecution(f"{name}2", clock(), name, "Bash", {"command": "pytest"}, False, error="Connection refused", duration_ms=2100),
            m.ToolExecution(f"{name}3", clock(), name, "Edit", {"file_path": "shop/auth/tokens.py"}, True, duration_ms=31),
        ]  # fmt: skip
        store.episodes.add(owner, calls, [])
        items = [{"id": "i1", "type": "file", "tokens": 410}]
        store.episodes.put_snapshot(owner, name, clock(), items, 900, [{"id": "i0"}], "pruning", None)
        store.put_finding(m.Finding(f"{name}f", name, f"{name}p", "fact", "The lifetime of tokens is in shop/auth/tokens.py", clock(), promoted_to=ids["renew"]))  # fmt: skip
        store.put_finding(m.Finding(f"{name}g", name, f"{name}q", "fact", "It works now", clock()))
        counts = {"injected": 9, "used": 2, "edited": 1, "discovery_tokens": 3100 + 400 * len(host)}
        for count, value in counts.items():
            engine.measures.note(count, value, name)
        engine.sessions.end(name, summary=f"- Asked: {asked}\n- {answer}\n- The tests need Redis")
        clock.advance(hours=3)
    engine.measures.flush()


def _questions(engine: Engine, clock: MovableClock, ids: dict[str, str], project: Path) -> None:
    """A contradiction, a merge, a seed, a memory whose code changed, and a gap."""
    other = engine.remember("All prices in the shop are kept as whole cents", kind="fact").id
    port = engine.remember("The staging server can be reached at port 8080", kind="fact").id
    if not engine.store.conflicts(engine.context.view(), [port]):  # not found by its meaning
        engine.link(ids["staging"], port, "contradicts")
    seed = engine.remember("Run the tests with `pnpm test`", kind="convention").id
    tokens = project / "shop/auth/tokens.py"
    old = "    return None if user_id is None else issue_for(user_id)\n"
    new = '    if user_id is None:\n        return None\n    keystore.drop(f"refresh:{refresh}")\n    return issue_for(user_id)\n'
    tokens.write_text(tokens.read_text("utf-8").replace(old, new), "utf-8")
    engine.code.refresh()
    engine.care.check_code()
    for kind, names, why in (
        ("contradiction", (port, ids["staging"]), "the same server, another port"),
        ("merge", (ids["prices"], other), "87 % alike"),
        ("stale", (ids["renew"],), "its code has changed"),
        ("seed", (seed,), "found in README.md"),
    ):
        clock.advance(minutes=1)
        review = m.Review(m.new_id(clock()), engine.context.user_id, engine.context.project_id, kind, names, why, clock())  # fmt: skip
        engine.store.reviews.ask(review)
    engine.store.put_gap(m.Gap(m.new_id(clock()), engine.context.project_id, "How do I get a key for staging?", clock()))  # fmt: skip
