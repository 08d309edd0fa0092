"""Does a prompt bring what its task needs: the map, the files, what an agent recorded; and an opened file what is known of it?"""

from collections.abc import Sequence
from shlex import quote

from livehosts.check import CheckRun
from livehosts.delivered import delivered
from livehosts.model_request import ModelRequest
from livehosts.script import CallTool, ReadFile, RunShell, Say

TASK = "Charge cards again when the bank times out"
ABOUT_FILE = "Receipts of refunds begin with R, because the ledger of the bookkeeper Hofmann sorts by it"
OPENING = "Let a customer choose the paper of the confirmation that is sent to them"
COMMENT = "# Error: an address that is missing or invalid is not found by the mail server.\n"
KNOWN, UNKNOWN = "src/shop/mailer.py", "src/shop/inventory.py"
FILES = ("src/shop/payment.py", "tests/test_payment.py")
# What an agent records, when it says that it is needed, and a prompt that has words of that only.
LEDGER = "Postings are append-only; a reversal is a second row with the sign flipped"
WHEN = ("a customer was charged twice", "give somebody their money back")
NEEDED = "A customer was charged twice yesterday, give her the money back"


def map_and_files(run: CheckRun) -> None:
    with run.sandbox() as box:
        box.recollect("init")
        box.install()
        for when in ("cold", "warm"):
            blocks = "\n".join(delivered(box.run(TASK).first))
            missing = [name for name in FILES if name not in blocks]
            run.expect(not missing, f"{when}: no {missing} in {blocks[:600]!r}")
            run.expect("pytest" in blocks, f"{when}: not how to test, in {blocks[:600]!r}")


def opened_file(run: CheckRun) -> None:
    with run.sandbox() as box:
        box.recollect("remember", ABOUT_FILE, "--kind", "gotcha", "--file", KNOWN)
        with (box.project / KNOWN).open("a") as file:
            file.write(COMMENT)  # what a file says of errors is no failure of the command that prints it
        box.install()
        box.run("Say hello first")
        for number in run.count(2, 5):
            paths = [str(box.project / name) for name in (UNKNOWN, KNOWN, KNOWN)]
            turns = box.run(f"{OPENING}, number {number + 1}", *map(ReadFile, paths), Say("Read.")).turns
            told = [_new_blocks(turns, index) for index in range(len(turns))]
            after = [index for index, blocks in enumerate(told) if ABOUT_FILE in blocks]
            run.expect(after == [2], f"{number + 1}: told with requests {after}, not with the third; {told}")
            run.expect(len(told) == 4 and not told[1], f"{number + 1}: with the other file: {told[1:2]}")


def recorded(run: CheckRun) -> None:
    with run.sandbox() as box:
        for number in range(12):
            box.recollect(
                "remember", f"The colour of button {number} in the header is blue", "--kind", "fact"
            )
        box.install()
        # A host may not let the tool run without its user; then the agent has the command.
        words = " ".join(f"--when '{situation}'" for situation in WHEN)
        command = f"{quote(str(box.program))} remember --created-by agent:{box.cli.name} {words} '{LEDGER}'"
        record = CallTool("record_memory", {"content": LEDGER, "when": list(WHEN)})
        box.run("Look at the ledger", RunShell("sleep 5"), record, RunShell(command), Say("Recorded."))
        for number in run.count(2, 5):
            blocks = "\n".join(delivered(box.run(f"{NEEDED}, case {number + 1}").first))
            run.expect(LEDGER in blocks, f"{number + 1}: not told in other words, but {blocks[:600]!r}")
            run.expect(WHEN[1] not in blocks, f"{number + 1}: told when it is needed: {blocks[:600]!r}")


def _new_blocks(turns: Sequence[ModelRequest], index: int) -> str:
    """Return what a request has from us that the one before it had not."""
    before = turns[index - 1].parts if index else ()
    return "\n".join(delivered(turns[index], before))
