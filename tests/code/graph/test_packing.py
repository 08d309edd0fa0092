"""What is kept of one file, packed."""

from dataclasses import replace

from recollect.code.facts import CLASS, FUNCTION, Binding, Definition, FileFacts, Import, Reference
from recollect.code.graph.file_node import FileNode
from recollect.code.packing import pack_file, unpack_facts


def test_what_is_packed_comes_out_the_same():
    facts = FileFacts(
        "python",
        [
            Definition("Shop", CLASS, 3, 9, bases=("Base",), decorators=("final",)),
            Definition("open", FUNCTION, 5, 9, 0, "(self)", "Opens it.", parameters=(("self", ""),)),
        ],
        [Import("shop.prices", "total", "sum_up", 1)],
        [Reference("sum_up", "calls", 6, 1), Reference("self.till", "uses", 7, 1)],
        [Binding("self.till", "Till()", False, 7, 1), Binding("open_since", "date", True, 4, 0)],
        ["Shop"],
        "A shop.",
        broken=True,
    )

    parse = pack_file(facts, b"", b"")

    unpacked = unpack_facts("python", *parse[:3])
    assert replace(unpacked, references=list(unpacked.references)) == facts
    assert FileNode("shop.py", "python", b"1", parse.outline, b"").definitions == facts.definitions


def test_a_file_that_says_nothing_is_packed_too():
    parse = pack_file(FileFacts("python"), b"", b"")

    unpacked = unpack_facts("python", *parse[:3])

    assert (unpacked.definitions, list(unpacked.references), unpacked.exports) == ([], [], [])
