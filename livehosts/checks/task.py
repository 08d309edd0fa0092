"""Does a prompt bring the map and the files for its task?"""

from livehosts.check import CheckRun
from livehosts.delivered import delivered

TASK = "Large orders get their discount too late: it must begin at 50 euros"


def map_and_files(run: CheckRun) -> None:
    with run.sandbox() as box:
        box.recollect("init")
        box.install()
        for is_warm in (False, True):
            blocks = "\n".join(delivered(box.run(TASK).first))
            when = "warm" if is_warm else "cold"
            run.expect(
                "src/shop/discount.py" in blocks, f"{when}: no src/shop/discount.py in {blocks[:400]!r}"
            )
            run.expect("pytest" in blocks, f"{when}: not how to test, in {blocks[:400]!r}")
