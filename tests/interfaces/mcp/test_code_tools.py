import pytest

pytestmark = pytest.mark.anyio


@pytest.fixture
def shop(folder):
    """A project with a little code in it."""
    (folder / "shop").mkdir()
    (folder / "shop" / "__init__.py").write_text('"""A shop."""\n')
    (folder / "shop" / "cart.py").write_text(
        '"""What a customer wants to buy."""\n\nfrom shop.prices import price\n\n\ndef total(items):\n    return sum(price(each) for each in items)\n'
    )
    (folder / "shop" / "prices.py").write_text(
        '"""What things cost."""\n\n\ndef price(item):\n    return item.cost\n'
    )
    (folder / "pyproject.toml").write_text('[project]\nname = "shop"\n\n[tool.pytest.ini_options]\n')
    return folder


def text_of(answer):
    return answer.content[0].text


async def test_the_map_names_modules_and_commands(connect, shop):
    async with connect() as client:
        answer = await client.call_tool("module_map", {})

    assert not answer.is_error, text_of(answer)
    files = [file for module in answer.structured_content["modules"] for file in module["files"]]
    assert any("shop" in file for file in files)
    assert "pytest" in answer.structured_content["commands"]["test"]


async def test_a_correction_of_the_map_stays(connect, shop):
    async with connect() as client:
        first = (await client.call_tool("module_map", {})).structured_content["modules"][0]["name"]
        changed = await client.call_tool(
            "update_module_map", {"module": first, "description": "All that is sold."}
        )
        again = await client.call_tool("module_map", {"module": first})

    assert not changed.is_error, text_of(changed)
    assert again.structured_content["modules"][0]["description"] == "All that is sold."


async def test_callers_are_found_without_reading_files(connect, shop):
    async with connect() as client:
        answer = await client.call_tool("code_graph", {"question": "callers", "about": "price"})

    (line,) = answer.structured_content["results"]
    assert (line["place"], line["name"]) == ("shop/cart.py:7", "total")
    assert "import" in line["says"]


async def test_a_task_is_told_its_files_and_lines(connect, shop):
    async with connect() as client:
        answer = await client.call_tool(
            "code_graph", {"question": "relevant", "about": "the total of the cart is wrong"}
        )

    assert answer.structured_content["results"][0]["place"] == "shop/cart.py"
    assert "def total" in text_of(answer)


async def test_a_task_is_told_the_files_of_a_similar_past_task(connect, shop, opener):
    with opener(shop, "user") as engine:
        task = engine.episodes.start_task("Support vouchers that expire", session="s1")
        engine.episodes.record("Edit", {"file_path": str(shop / "shop/prices.py")}, session="s1")
        engine.episodes.flush()
        engine.episodes.finish_task(task.id, "done")
    async with connect() as client:
        answer = await client.call_tool(
            "code_graph", {"question": "relevant", "about": "Vouchers expire too early"}
        )

    assert [line["place"] for line in answer.structured_content["results"]] == ["shop/prices.py"]


async def test_an_unknown_name_is_answered_with_near_ones(connect, shop):
    async with connect() as client:
        answer = await client.call_tool("code_graph", {"question": "callers", "about": "prise"})

    assert answer.is_error
    assert "price" in text_of(answer)


async def test_work_that_was_done_is_told(connect, shop, opener):
    with opener(shop, "user") as engine:
        task = engine.episodes.start_task("Mend the total of the cart", session="s1")
        engine.episodes.record("Edit", {"file_path": str(shop / "shop/cart.py")}, session="s1")
        engine.episodes.flush()
        engine.episodes.finish_task(task.id, "sums were wrong")
    async with connect() as client:
        like = await client.call_tool("work_history", {"question": "like", "about": "cart total"})
        file = await client.call_tool("work_history", {"question": "file", "about": "shop/cart.py"})
        nothing = await client.call_tool("work_history", {"question": "fix"})

    assert like.structured_content["results"][0]["outcome"] == "sums were wrong"
    assert "edit shop/cart.py" in text_of(file)
    assert nothing.is_error


async def test_calls_of_tools_are_recorded(connect, shop, opener):
    async with connect() as client:
        await client.call_tool("search_memory", {"query": "redis"})
        await client.call_tool("read_source", {"id": "nothing"})

    with opener(shop, "user") as engine:
        done = engine.store.episodes.executions(engine.episodes.owner, limit=10)
    assert {(each.tool, each.success) for each in done} == {
        ("recollect:search_memory", True),
        ("recollect:read_source", False),
    }
