"""What the code graph says about files, as the scan needs it."""

import pytest

from recollect.code.codebase import Codebase
from recollect.code.modules.scan_input import read_scan_input


@pytest.mark.parametrize("lines, is_told", [(2, False), (40, True)])
def test_a_small_type_with_the_name_of_a_file_does_not_describe_it(tmp_path, lines, is_told):
    fields = "".join(f"  field{number}: string\n" for number in range(lines))
    functions = "export function send() {\n  return 1\n}\n\n" * 10
    (tmp_path / "order.ts").write_text(
        f"/** What a customer buys. */\nexport interface Order {{\n{fields}}}\n\n{functions}"
    )
    code = Codebase(tmp_path, tmp_path / "home" / "code.db", None)

    found = read_scan_input(tmp_path, ["order.ts"], code.graph)

    code.close()
    assert bool(found.docs["order.ts"]) is is_told
