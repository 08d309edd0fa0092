"""*Graph*: memories, tags, clusters and links as a picture, with the same as a list beside it."""

import json
from itertools import pairwise

from playwright.sync_api import expect

import recollect.model as m


def fill(engine):
    """Three memories: two with a tag and a link, and one that is a warning."""
    cents = engine.remember("Prices are in cents", kind="fact", tags=("money",)).id
    total = engine.remember("Round only the total", kind="convention", tags=("money",)).id
    till = engine.remember("The <till> prints twice", kind="gotcha").id
    engine.link(total, cents)
    engine.store.put_clusters(
        engine.context.project_id,
        [
            m.Cluster(
                "c1", engine.context.project_id, "money", "fake", b"", (cents, till), engine.context.clock()
            )
        ],
    )
    return cents, total, till


def test_the_data_has_memories_tags_clusters_and_links(plain_engine, reader):
    cents, total, till = fill(plain_engine)

    data = json.loads(reader.get("/graph/data"))

    nodes = dict(zip(data["keys"], data["groups"], strict=True))
    assert nodes == {
        f"m:{cents}": "knowledge",
        f"m:{total}": "knowledge",
        f"m:{till}": "warning",
        "t:money": "tag",
        "c:c1": "cluster",
    }
    ends = {(data["keys"][source], data["keys"][target]) for source, target, _ in data["links"]}
    assert (f"m:{total}", f"m:{cents}") in ends
    assert {(f"m:{cents}", "t:money"), (f"m:{till}", "c:c1")} <= ends


def test_the_list_is_walked_without_a_script(plain_engine, reader):
    cents, total, _ = fill(plain_engine)

    text = reader.text(f"/graph?node=m:{total}")

    assert "relates to → Prices are in cents" in text
    assert "tag #money" in text
    assert "tag Prices are in cents" in reader.text("/graph?node=t:money")
    assert f'href="/memories/{cents}' in reader.get(f"/graph?node=m:{cents}")


def test_a_filter_and_a_search_reduce_what_is_shown_and_leave_no_trace(plain_engine, reader):
    _, _, till = fill(plain_engine)
    before = plain_engine.store.seq()

    assert json.loads(reader.get("/graph/data?family=warning"))["keys"] == [f"m:{till}"]
    assert len(json.loads(reader.get("/graph/data?tag=%23money"))["keys"]) == 3
    assert "The <till> prints twice" in reader.text("/graph?q=till")
    plain_engine.retrieval.process_searches()

    assert plain_engine.gaps() == ()
    assert plain_engine.store.seq() == before


def test_nothing_of_another_user_or_project_is_drawn(plain_engine, reader, home, tmp_path, embedder):
    from recollect.engine import Engine

    fill(plain_engine)
    other = tmp_path / "other"
    other.mkdir()
    with Engine.open(other, home, embedder=embedder) as engine:
        engine.remember("Elsewhere entirely", kind="fact")

    assert "Elsewhere entirely" not in reader.get("/graph/data")
    assert "Elsewhere entirely" in reader.get("/graph/data?p=all")


def test_links_are_read_in_linear_time(plain_engine, clock):
    """4,000 memories: trying each pair of ends would be 16 million steps, more than 20 seconds of work."""
    import time
    from dataclasses import replace

    first = plain_engine.get(plain_engine.remember("A first memory").id)
    store, now = plain_engine.store, clock()
    with store.transaction():
        names = [f"{number:026d}" for number in range(4000)]
        for name in names:
            store.put(replace(first, id=name, content=f"Memory {name}", fingerprint=name))
        for one, other in pairwise(names):
            store.put_link(m.Link(one, other, m.Relation.RELATES_TO, now))

    began = time.process_time()
    links = store.all_links(plain_engine.context.view())

    assert len(links) == 3999
    assert time.process_time() - began < 5


def test_without_memories_the_page_says_what_will_be_here(reader):
    assert "There is nothing to draw yet." in reader.text("/graph")


def test_a_person_walks_in_the_picture_and_in_the_list(page, site):
    _, total, _ = fill(site.engine)
    page.goto("/graph")
    expect(page.locator("#graph")).to_have_attribute("data-state", "done")
    page.keyboard.press("Tab")

    page.locator("#beside").get_by_role("link", name="Round only the total").click()
    expect(page.locator("#beside h2")).to_have_text("Round only the total")
    expect(page).to_have_url(f"{site.address}/graph?node=m%3A{total}")
    page.locator("#beside").get_by_role("link", name="#money").click()
    expect(page.locator("#beside h2")).to_have_text("#money")

    box = page.locator("#graph").bounding_box()  # the chosen node is in the middle
    page.mouse.click(box["x"] + 5, box["y"] + 5)
    expect(page.locator("#beside h2")).to_have_text("Most connected")
    page.locator("#graph").focus()
    for key in ("+", "-", "ArrowLeft", "0"):
        page.keyboard.press(key)
