"""Does a prompt bring the map and the files for its task?"""

from livehosts.check import CheckRun
from livehosts.delivered import delivered

TASK = "Charge cards again when the bank times out"
FILES = ("src/shop/payment.py", "tests/test_payment.py")


def map_and_files(run: CheckRun) -> None:
    with run.sandbox() as box:
        box.recollect("init")
        box.install()
        for when in ("cold", "warm"):
            blocks = "\n".join(delivered(box.run(TASK).first))
            missing = [name for name in FILES if name not in blocks]
            run.expect(not missing, f"{when}: no {missing} in {blocks[:600]!r}")
            run.expect("pytest" in blocks, f"{when}: not how to test, in {blocks[:600]!r}")
