"""`make team`: a PostgreSQL, a team server, two people with their agents, and what they see of each other.

Everything is a process of its own, as in production: the database from a wheel, `recollect team serve`, and the commands, hooks
and daemons of two people with homes of their own. Nothing outside a temporary folder is touched.
"""

import contextlib
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from bench.local_postgres import SERVER, LocalPostgres

REMOTE = "https://example.com/acme/shop.git"


class Story:
    """Runs commands and prints them as a person would see them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def person(self, name: str) -> "Person":
        shop = self.folder / name / "shop"
        shop.mkdir(parents=True)
        subprocess.run(["git", "init", "-q", shop], check=True)
        subprocess.run(["git", "-C", shop, "remote", "add", "origin", REMOTE], check=True)
        return Person(name, self.folder / name / "home", shop)


class Person:
    def __init__(self, name: str, home: Path, shop: Path) -> None:
        self.name, self.home, self.shop = name, home, shop
        self.session = ""  # of the agent, the last one

    def run(self, *arguments: str, stdin: str = "", code: int = 0, quiet: bool = False) -> str:
        done = recollect(self.home, *arguments, stdin=stdin, cwd=self.shop)
        if not quiet:
            shown = " ".join(f'"{word}"' if " " in word else word for word in arguments)
            print(f"\n{self.name}$ recollect {shown}")
            print("\n".join(f"  {line}" for line in (done.stdout + done.stderr).strip().splitlines()))
        if done.returncode != code:
            sys.exit(f"{self.name}: exit code {done.returncode}: {done.stderr}")
        return done.stdout + done.stderr

    def prompt(self, text: str) -> str:
        """Return what the agent of this person is told with a prompt."""
        print(f"\n{self.name}'s agent is asked: {text}")
        told = ""
        for number in range(
            20
        ):  # the daemon starts with the first session, and is not ready for its prompt at once
            self.session = f"{self.name}-{number}"  # no two sessions have one id
            told = self._hook(self.session, "SessionStart", source="startup")
            told += self._hook(self.session, "UserPromptSubmit", prompt=text)
            if told:
                break
            time.sleep(0.5)
        print("\n".join(f"  {line}" for line in told.splitlines()) or "  (nothing)")
        return told

    def next_prompt(self, text: str) -> str:
        """Return what the agent is told with another prompt of the session that is open.

        On a busy machine a prompt does not wait for memory longer than its deadline: then with the one after it.
        """
        print(f"\n{self.name}'s agent is asked: {text}")
        told, number = "", 0
        while not told and number < 10:
            number += 1
            told = self._hook(self.session, "UserPromptSubmit", prompt=text)
        print("\n".join(f"  {line}" for line in told.splitlines()) or "  (nothing)")
        if number > 1:
            print(f"  (with prompt {number}: this machine is busy)")
        return told

    def find_a_fix(self) -> None:
        """The agent runs into an error and finds what fixes it."""
        print(f"\n{self.name}'s agent runs into an error and fixes it with npm install jest")
        self.prompt("Why do the checkout tests fail?")
        tests, fix = {"command": "npm test"}, {"command": "npm install jest"}
        self._hook(
            self.session, "PostToolUseFailure", tool_name="Bash", tool_input=tests,
            error="Exit code 1\nError: Cannot find module jest",
        )  # fmt: skip
        self._hook(
            self.session, "PostToolUse", tool_name="Bash", tool_input=fix, tool_response={"stdout": "ok"}
        )
        self._hook(
            self.session,
            "PostToolUse",
            tool_name="Bash",
            tool_input=tests,
            tool_response={"stdout": "3 passed"},
        )
        self._hook(self.session, "Stop", last_assistant_message="The tests pass now.")

    def _hook(self, session: str, name: str, **fields: object) -> str:
        event = json.dumps({"session_id": session, "cwd": str(self.shop), **fields})
        out = recollect(self.home, "hook", "claude-code", name, stdin=event, cwd=self.shop).stdout
        shown = json.loads(out) if out.strip() else {}
        return str(shown.get("hookSpecificOutput", {}).get("additionalContext", ""))


def recollect(
    home: Path, *arguments: str, stdin: str = "", cwd: Path | None = None, **variables: str
) -> "subprocess.CompletedProcess[str]":
    kept = {name: value for name, value in os.environ.items() if not name.startswith("RECOLLECT_")}
    command = [sys.executable, "-m", "recollect", *arguments]
    return subprocess.run(
        command,
        input=stdin,
        text=True,
        capture_output=True,
        cwd=cwd,
        env=kept | {"RECOLLECT_HOME": str(home), **variables},
        timeout=120,
    )


@contextlib.contextmanager
def serving(home: Path, database: str):
    """Run a team server; yield its address."""
    environment = os.environ | {"RECOLLECT_HOME": str(home), "RECOLLECT_TEAM_DATABASE": database}
    command = [sys.executable, "-m", "recollect", "team", "serve", "--port", "0"]
    server = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment)
    try:
        assert server.stderr is not None
        line = server.stderr.readline()
        print(line.strip())
        log = subprocess.Popen(["cat"], stdin=server.stderr, stdout=subprocess.DEVNULL)
        yield line.split()[-1]
    finally:
        server.terminate()
        server.wait(20)
        log.wait(5)


def expect(is_true: bool, what: str) -> None:
    print(f"  {'✓' if is_true else '✗'} {what}")
    if not is_true:
        sys.exit(f"The story failed: {what}")


def main() -> None:
    folder = Path(tempfile.mkdtemp(prefix="recollect-team-"))
    postgres = LocalPostgres(durable=True)
    people: list[Person] = []
    try:
        print("Starting PostgreSQL …")
        postgres.create()
        postgres.start()
        postgres.prepare()
        database = postgres.url(SERVER)
        made = recollect(
            folder / "server", "team", "init", "Web shop", "--owner", "Ada", "--json",
            RECOLLECT_TEAM_DATABASE=database,
        )  # fmt: skip
        token = json.loads(made.stdout)["token"]
        with serving(folder / "server", database) as address:
            tell(Story(folder), address, token, people)
        ben = people[1]
        said = ben.run("search", "redis", code=1)
        expect("Memory unavailable: offline" in said, "without the server, a command says so and fails")
        print("\nThe story is told: what one learns, the other gets; what is private stays.")
    finally:
        for person in people:
            recollect(person.home, "daemon", "stop")
        postgres.stop()


def tell(story: Story, address: str, token: str, people: list[Person]) -> None:
    ada, ben = story.person("ada"), story.person("ben")
    people += [ada, ben]
    ada.run("login", address, "--token", token, "--yes")
    code = json.loads(ada.run("team", "invite", "Ben", "--json", quiet=True))["code"]
    ben.run("login", address, "--code", code, "--yes")
    ada.run("team", "quarantine", "Ben", "--off")
    ada.run("remember", "The payment tests need a running Redis on port 6380", "--kind", "gotcha", "--created-by", "agent:claude")  # fmt: skip
    ada.run("remember", "I find the payment code hard to read")

    found = ben.run("search", "what do the payment tests need")
    expect("Redis on port 6380" in found, "Ben finds what Ada's agent learnt")
    expect("hard to read" not in found, "Ben does not find what Ada said for herself")
    told = ben.prompt("Run the payment tests and fix what fails with redis")
    expect("Redis on port 6380" in told, "Ben's agent is told at its prompt what Ada's agent learnt")
    expect("hard to read" not in told, "and nothing of what is private")

    ada.find_a_fix()
    time.sleep(2)
    told = ben.next_prompt("And what about the checkout tests?")
    expect("npm install jest" in told, "Ben's open session is told two seconds later what Ada's agent found")

    ada.run("remember", "Always use tabs in Go files", "--kind", "convention", "--visibility", "team")
    ben.run("remember", "Never use tabs in Go files", "--kind", "convention", "--visibility", "team")
    conflicts = ada.run("conflicts")
    expect("by Ben" in conflicts, "Ada sees that Ben contradicts her, and both statements stay")


if __name__ == "__main__":
    main()
