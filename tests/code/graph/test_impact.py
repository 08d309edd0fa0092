"""What may break, by edges alone."""

from recollect.code.graph.impact import find_impact
from recollect.code.nodes import CodeEdge


def walker(*edges):
    return lambda id: [edge for edge in edges if edge.target == id]


def calls(source, target, rule="scope"):
    return CodeEdge(source, "calls", target, rule)


def test_a_circle_is_walked_once():
    edges = walker(calls("b", "a"), calls("c", "b"), calls("a", "c"), calls("b", "c"))

    found = find_impact(["a"], edges)

    assert [(each.id, each.distance) for each in found] == [("b", 1), ("c", 2)]


def test_the_likeliest_way_is_told():
    edges = walker(calls("far", "a", "vote"), calls("near", "a"), calls("end", "far"), calls("end", "near"))

    found = {each.id: each for each in find_impact(["a"], edges)}

    assert found["end"].because == calls("end", "near")
    assert found["near"].weight > found["far"].weight > found["end"].weight


def test_it_ends_where_a_break_is_unlikely():
    chain = walker(*(calls(f"f{number + 1}", f"f{number}") for number in range(50)))

    assert [each.id for each in find_impact(["f0"], chain)] == ["f1", "f2", "f3", "f4"]


def test_at_most_so_many():
    crowd = walker(*(calls(f"user{number}", "a") for number in range(50)))

    assert len(find_impact(["a"], crowd, most=10)) == 10
