"""*Code*: the module map with corrections in place, what a task is about, and who calls a symbol."""

import pytest
from playwright.sync_api import expect

FILES = {
    "shop/orders.py": '"""Orders and their totals."""\nfrom shop.money import add\n\n\ndef total(order):\n    return add(order)\n',
    "shop/money.py": '"""Money in cents."""\n\n\ndef add(prices):\n    return sum(prices)\n\n\ndef unused():\n    pass\n',
    "shop/__init__.py": "",
    "web/__init__.py": "",
    "web/page.py": "from shop.orders import total\n\n\ndef show(order):\n    return total(order)\n",
    "tests/test_money.py": "from shop.money import add\n\n\ndef test_add():\n    assert add([1]) == 1\n",
}


@pytest.fixture
def code(folder):
    for name, text in FILES.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)


@pytest.fixture
def engine(plain_engine, code):
    plain_engine.context.register_project()
    return plain_engine


def test_before_the_files_are_read_the_page_offers_to_read_them_and_reads_nothing_itself(engine, reader):
    text = reader.text("/code")

    assert "The files of this project have not been read yet." in text
    assert engine.maps.known() is None
    assert not engine.codebase.exists


def test_reading_the_files_shows_modules_with_files_tests_and_confidence(engine, reader):
    answer = reader.post("/code/read", next="/code")

    text = reader.text("/code")
    assert "files that were new or changed. The project has" in answer
    assert "shop shallow" in text
    assert "shop/money.py" in text
    assert "tests/test_money.py" in text


def test_a_module_is_corrected_in_place_and_a_scan_keeps_it(engine, reader):
    reader.post("/code/read")
    module = engine.maps.known().find("shop")

    reader.post(
        "/code/correct",
        module=module.key,
        name="till",
        description="What a sale costs",
        dependencies=", ".join(module.dependencies),
        next="/code",
    )
    engine.maps.rescan()

    corrected = engine.maps.known().find("till")
    assert corrected.description == "What a sale costs"
    assert corrected.core_files == module.core_files
    assert "corrected description (user), name (user)" in reader.text("/code")


def test_a_correction_is_a_change_that_can_be_undone(engine, reader):
    reader.post("/code/read")
    module = engine.maps.known().find("shop")
    page = reader.post("/code/correct", module=module.key, name="till", next="/code")
    assert "till is corrected." in page
    (change,) = engine.care.changes()

    assert "Undone." in reader.post(f"/changes/{change.id}/undo", next="/code")

    assert engine.maps.known().find("shop").name == "shop"


def test_a_correction_without_a_change_is_refused_with_a_reason(engine, reader):
    reader.post("/code/read")
    module = engine.maps.known().find("shop")

    page = reader.post(
        "/code/correct", module=module.key, name=module.name, description=module.description, next="/code"
    )

    assert "No change was given." in page


def test_a_file_can_be_moved_out_of_a_module(engine, reader):
    reader.post("/code/read")
    module = engine.maps.known().find("shop")

    reader.post(
        "/code/correct",
        module=module.key,
        name=module.name,
        description=module.description,
        dependencies=", ".join(module.dependencies),
        remove_file="shop/money.py",
    )

    assert "shop/money.py" not in engine.maps.known().find("shop").core_files


def test_a_task_shows_files_symbols_modules_and_reasons_that_add_up(engine, reader):
    reader.post("/code/read")

    text = reader.text("/code/task?q=add+prices+of+money+wrongly")

    assert "shop/money.py" in text
    assert "A right file is among the first five with a probability of" in text
    assert "these parts add up to it" in text
    hit = engine.relevant("add prices of money wrongly").files[0]
    assert f"{hit.path} {hit.score:.2f}" in text
    assert sum(hit.why.values()) == pytest.approx(hit.score, abs=0.01)


def test_a_symbol_shows_its_callers_and_calls(engine, reader):
    reader.post("/code/read")

    text = reader.text("/code/symbol?q=total")

    assert "Callers 1" in text
    assert "web/page.py::show" in text
    assert "shop/money.py::add" in text


def test_a_misspelt_symbol_leads_to_a_similar_one(engine, reader):
    reader.post("/code/read")

    text = reader.text("/code/symbol?q=totall")

    assert "Nothing is called totall" in text
    assert "Did you mean: total" in text


def test_a_project_without_its_folder_says_so(engine, reader, folder):
    folder.rename(folder.with_name("gone"))

    assert "The folder of this project is not on this machine." in reader.text("/code")
    assert "Choose a project." in reader.text("/code?p=all")


def test_hostile_names_of_files_are_text(engine, reader, folder):
    (folder / "shop/<img src=x onerror=alert(1)>.py").write_text("def evil():\n    pass\n")
    reader.post("/code/read")

    for path in ("/code", "/code/task?q=evil", "/code/symbol?q=evil"):
        assert "<img" not in reader.get(path)
        assert "&lt;img src=x" in reader.get(path)


def test_a_person_follows_a_call_in_the_picture(page, site, code):
    site.engine.context.register_project()
    page.goto("/code")
    page.get_by_role("button", name="Read the files").click()
    page.get_by_label("Who calls this?").fill("total")
    page.keyboard.press("Enter")

    page.locator("svg.calls a", has_text="show").click()

    expect(page.get_by_role("heading", level=1)).to_have_text("show")
    expect(page.locator("#callees + .scroll")).to_contain_text("shop/orders.py::total")
