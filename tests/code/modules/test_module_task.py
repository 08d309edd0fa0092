from recollect.code.modules.module_map import Module, ModuleMap
from recollect.code.modules.task import match_modules, module_card
from recollect.code.paths import FileRole

FOUND = ModuleMap(
    (
        Module(
            "src/auth",
            "auth",
            description="Who may do what.",
            core_files=("src/auth/login.py", "src/auth/tokens.py"),
            entry_points=("src/auth/login.py",),
            test_files=("tests/auth/",),
            dependencies=("redis",),
            terms=("jwt", "refresh"),
        ),
        Module(
            "src/billing", "billing", description="Invoices and taxes.", core_files=("src/billing/tax.py",)
        ),
        Module("src/stock", "stock", core_files=("src/stock/order.py",)),
        Module("docs", "docs", FileRole.DOCS, "How to log in, and more about auth.", ("docs/",)),
    )
)


def names(text, files=()):
    return [each.module.name for each in match_modules(FOUND, text, files)]


def test_a_task_touches_the_module_it_names():
    assert names("There is a bug in the auth system")[0] == "auth"


def test_a_task_touches_modules_by_what_they_define_and_are_called():
    assert names("refreshing an expired JWT fails")[0] == "auth"
    assert names("wrong taxes on orders") == ["billing", "stock"]


def test_files_that_a_ranking_found_count():
    assert names("it hangs", ["src/stock/order.py"]) == ["stock"]
    assert names("it hangs", ["tests/auth/test_login.py"]) == ["auth"]


def test_code_comes_before_what_is_written_about_it():
    assert names("login")[0] == "auth"


def test_a_task_that_has_nothing_in_common_touches_nothing():
    assert names("make the sky green") == []
    assert names("") == []


def test_why_a_module_was_chosen_is_told():
    assert (
        match_modules(FOUND, "auth tokens", ["src/auth/tokens.py"])[0].why
        == "name: auth; file: token; files: src/auth/tokens.py"
    )


def test_the_card_of_a_module_has_the_files_of_the_task_first():
    auth = FOUND.modules[0]

    told = module_card(auth, ["src/auth/tokens.py"])

    assert told.files == ("src/auth/tokens.py", "src/auth/login.py")
    assert (told.tests, told.deps) == (("tests/auth/",), ("redis",))
