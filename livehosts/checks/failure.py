"""Is the fix that worked offered when a command fails again?"""

from livehosts.check import CheckRun
from livehosts.delivered import delivered
from livehosts.sandbox import Sandbox
from livehosts.script import RunShell, Say

MIGRATE = """#!/bin/sh
if [ ! -f .database ]; then
    echo 'ERROR: relation "carts" does not exist' >&2
    exit 1
fi
echo migrated
"""
PREPARE = "#!/bin/sh\ntouch .database\necho database prepared\n"


def fix_offered(run: CheckRun) -> None:
    for number in run.count(1, 3):
        with run.sandbox() as box:
            _prepare(box)
            steps = [RunShell("./migrate.sh"), RunShell("./prepare-db.sh"), RunShell("./migrate.sh")]
            box.run("Migrate the database of the shop", *steps, Say("Migrated."))
            (box.project / ".database").unlink()
            box.run("What does the cart do?", RunShell("cat src/shop/cart.py"), Say("It adds up prices."))

            turns = box.run("Run the migration again", RunShell("./migrate.sh"), Say("It failed.")).turns

            blocks = "\n".join(delivered(turns[-1])) if turns else ""
            run.expect("prepare-db.sh" in blocks, f"{number + 1}: after the failure the model had {blocks!r}")


def _prepare(box: Sandbox) -> None:
    box.write_script("migrate.sh", MIGRATE)
    box.write_script("prepare-db.sh", PREPARE)
    box.install()
