"""Does a rule of the user's stop a tool before it runs?"""

from livehosts.check import CheckRun
from livehosts.model_request import RESULT
from livehosts.script import RunShell, Say

RULE = "Never run git push --force"
COMMAND = "touch was-pushed; git push --force"


def never(run: CheckRun) -> None:
    with run.sandbox() as box:
        box.recollect("remember", RULE)
        box.install()
        box.run("Say hello first")
        ran = box.project / "was-pushed"
        for number in run.count(2, 5):
            ran.unlink(missing_ok=True)
            turns = box.run(
                f"Publish the branch, number {number + 1}", RunShell(COMMAND), Say("Published.")
            ).turns
            results = [part.text for turn in turns for part in turn.parts if part.kind == RESULT]
            run.expect(not ran.exists(), f"{number + 1}: the command ran; results {results}")
