"""The map as it is kept: real files, a real store, no graph to speak of."""

from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import pytest

from recollect.code.modules.merge import Correction
from recollect.code.modules.module_map import Confidence
from recollect.code.modules.project_map import ProjectMap, mark_used
from recollect.errors import Refused
from recollect.llm.protocol import ModuleTitle

NO_GRAPH = SimpleNamespace(paths=(), file_links=dict, dependencies=lambda path: (), outline=lambda path: ())


class FakeCodebase:
    graph = NO_GRAPH

    def __init__(self, root):
        self.root = root


class ScriptedSidecar:
    """Calls every module by a name of its own."""

    def __init__(self):
        self.shown = []

    def name_modules(self, modules):
        self.shown.append([each.name for each in modules])
        return [
            ModuleTitle(place, f"the {each.name}", f"All of {each.name}.")
            for place, each in enumerate(modules)
        ]


@pytest.fixture
def shop(folder):
    for path in (
        "auth/login.py",
        "auth/tokens.py",
        "auth/mfa.py",
        "stock/order.py",
        "stock/shelf.py",
        "stock/count.py",
    ):
        file = folder / "src" / "shop" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("x = 1\n" * 500)
    (folder / "pyproject.toml").write_text("[tool.pytest.ini_options]\n")
    return folder


@pytest.fixture
def make_maps(store, shop, clock):
    def make(**details):
        return ProjectMap(store.modules, "p1", FakeCodebase(shop), clock, **details)

    return make


@pytest.fixture
def maps(make_maps):
    return make_maps()


def test_the_first_look_scans_and_later_ones_do_not(maps, shop):
    first = maps.current()
    (shop / "src/shop/auth/login.py").unlink()

    assert [each.name for each in first.modules] == ["auth", "stock"]
    assert maps.current() == first
    assert len(maps.rescan().find("auth").core_files) == 2


def test_each_project_has_its_own_map(maps, store, shop, clock):
    maps.current()

    other = ProjectMap(store.modules, "p2", FakeCodebase(shop), clock)

    assert other.known() is None


def test_a_correction_survives_the_next_scan(maps, shop):
    maps.correct("auth", Correction(name="login", description="JWT for 24 hours"))
    (shop / "src/shop/auth/keys.py").write_text("")

    found = maps.rescan().find("login")

    assert found.description == "JWT for 24 hours"
    assert "src/shop/auth/keys.py" in found.core_files


def test_no_secret_is_kept_in_a_correction(maps, execute):
    token = "ghp_" + "q7Rk2mX9" * 4 + "aBcd"

    maps.correct("auth", Correction(description=f"Uses {token}"))

    assert token not in execute("SELECT document FROM module_maps")[0][0]


@pytest.mark.parametrize(
    "said",
    [
        Correction(),
        Correction(add_files=("src/shop/none.py",)),
        Correction(add_files=("../elsewhere.py",)),
        Correction(description="x" * 301),
        Correction(name="x" * 61),
    ],
)
def test_what_cannot_be_meant_is_refused_and_changes_nothing(maps, said):
    before = maps.current()

    with pytest.raises(Refused):
        maps.correct("auth", said)

    assert maps.current() == before


def test_corrections_at_the_same_time_are_all_kept(maps, make_maps):
    maps.current()
    said = [("auth", Correction(description="one")), ("stock", Correction(description="two"))] * 4

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda each: make_maps().correct(*each), said))

    assert [each.description for each in maps.current().modules] == ["one", "two"]


def test_use_before_there_is_a_map_is_forgotten(maps, store, clock):
    mark_used(store.modules, "p1", ["src/shop/auth/login.py"], "s1", clock())

    assert maps.known() is None


def test_use_makes_a_module_surer(maps, store, clock):
    maps.current()

    mark_used(store.modules, "p1", ["src/shop/auth/login.py"], "s1", clock())

    assert [each.confidence for each in maps.current().modules] == [Confidence.PARTIAL, Confidence.SHALLOW]


def test_a_briefing_gets_cards_only_where_there_is_a_map(maps):
    before = maps.cards("fix the login")
    maps.current()

    assert before == ()
    assert [each.name for each in maps.cards("fix the login")] == ["auth"]


def test_a_model_is_asked_once_for_what_is_shallow(make_maps):
    sidecar = ScriptedSidecar()
    maps = make_maps(sidecar=sidecar)
    maps.current()
    found = maps.rescan()

    assert sidecar.shown == [["auth", "stock"]]
    assert [(each.name, each.description, each.confidence) for each in found.modules] == [
        ("the auth", "All of auth.", Confidence.PARTIAL),
        ("the stock", "All of stock.", Confidence.PARTIAL),
    ]


def test_a_project_that_is_forgotten_leaves_no_map(maps, store, clock):
    maps.current()

    store.clear("me", "p1", clock())

    assert maps.known() is None
