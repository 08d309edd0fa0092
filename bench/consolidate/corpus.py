"""A store's worth of statements of which we know what says the same as what: duplicates, contradictions, near-misses.

Every frame has wordings written down as people say such things, so a duplicate is the same frame with the same values in
another wording, or the same wording as someone in a hurry types it. What differs in one value is none.
"""

import random
import re
from dataclasses import dataclass

from bench.corpus import sentences

PROJECTS = 20
LARGEST = 0  # the project with a third of all memories
_LEAD = (
    "invoice checkout tenant ledger search upload avatar refund catalogue session webhook payroll roster shipment voucher"
    " audit billing comment calendar report quota tariff telemetry feed badge coupon course device document draft event"
    " export gallery grading import inbox kiosk licence locale mailing metric outbox permission playlist policy profile"
    " receipt reminder rental schedule sensor survey ticket transcript vault wallet"
).split()
_TAIL = (
    "exporter gateway cache planner parser worker indexer mailer router scheduler resolver watcher renderer importer"
    " broker collector dispatcher formatter monitor proxy"
).split()
_VALUES: dict[str, list[str]] = {
    "port": [str(port) for port in range(3001, 9990, 37)],
    "dep": "Redis,Postgres,MinIO,Kafka,RabbitMQ,Elasticsearch,MongoDB,LocalStack,Mailhog,Vault".split(","),
    "team": "Team Atlas,Team Borealis,Team Cobalt,Team Drift,Team Ember,Team Fathom,Team Granite".split(","),
    "seconds": "5 7 12 15 20 25 30 40 45 60 75 90 110 120 150 180 240 300".split(),
    "megabytes": "2 4 5 8 10 16 20 25 32 50 64 100 128 200 250 500".split(),
    "times": "2 3 4 5 6 7 8 9 10 12".split(),
    "hour": "01 02 03 04 05 06 19 20 21 22 23".split(),
    "lib": "orjson,pydantic,attrs,msgspec,httpx,requests,aiohttp,structlog,loguru,arrow,pendulum,tenacity,polars".split(
        ","
    ),
    "task": "parsing payloads,validating input,calling partners,writing logs,handling dates,reading CSV files".split(
        ","
    ),
    "cmd": "make smoke,npm run verify,just lint-all,tox -e api,make db-check,pnpm typecheck,cargo test,task seed".split(
        ","
    ),
    "thing": "orders,page views,attachments,heartbeats,price updates,audit lines,thumbnails,status mails".split(
        ","
    ),
    "when": (
        "the disk is nearly full|two workers start at once|the clock jumps back|a client disconnects early|the queue is"
        " longer than a day|the cache is cold|the VPN reconnects|a leap second is near"
    ).split("|"),
    "store": "Postgres,Redis,S3,SQLite,DynamoDB,Cassandra,etcd,MySQL,ClickHouse".split(","),
    "branch": "main,develop,trunk,release,stable,next".split(","),
    "level": "unit,integration,end-to-end,contract,load".split(","),
    "system": "Windows,macOS,ARM runners,Alpine,the nightly runner".split(","),
    "person": "a release manager,the on-call engineer,a database admin,the deploy bot,a maintainer".split(
        ","
    ),
    "code": "E1042 E1107 E1230 E2001 E2044 E2310 E3005 E3070 E4011 E4122 E5050 E5501".split(),
    "meaning": (
        "the token has expired|the tenant is locked|a migration is missing|the schema is older than the client|the quota"
        " is used up|a replica lags behind"
    ).split("|"),
    "place": "/var/log/apps,the Loki dashboard,CloudWatch,the shared NFS volume,journald,Datadog".split(","),
    "flag": "fast-path,new-cursor,strict-mode,lazy-load,dual-write,shadow-read,soft-limit".split(","),
    "feature": "bulk edits,partial updates,offline drafts,inline previews,shared filters,delta sync".split(
        ","
    ),
    "env": "staging,production,the demo environment,local development,the sandbox".split(","),
    "why": (
        "it has no native dependencies|its errors are readable|it starts in a tenth of the time|the licence suits us|it"
        " streams|its maintainers answer"
    ).split("|"),
    "folder": "core api web jobs infra tools".split(),
}


@dataclass(frozen=True, slots=True)
class Frame:
    kind: str
    wordings: tuple[str, ...]
    value: str  # the slot of which only one can hold: another value contradicts
    aspect: str = ""  # a slot whose change makes it another matter, besides the subject


_FRAMES = (
    Frame("fact", (
        "The {part} service listens on port {port}.",
        "The {part} service is listening on port {port}.",
        "Port {port} is the port the {part} service listens on.",
    ), "port"),
    Frame("gotcha", (
        "Tests of the {part} module need a running {dep}.",
        "A running {dep} is needed for the tests of the {part} module.",
        "The {part} module's tests need a running {dep}.",
    ), "dep"),
    Frame("fact", ("{team} owns the {part} package.", "The {part} package is owned by {team}."), "team"),
    Frame("fact", (
        "Requests to the {part} time out after {seconds} seconds.",
        "Requests to the {part} time out when {seconds} seconds have passed.",
        "After {seconds} seconds, requests to the {part} time out.",
    ), "seconds"),
    Frame("convention", (
        "Use {lib} for {task} in the {part}.",
        "In the {part}, use {lib} for {task}.",
        "We use {lib} for {task} in the {part}.",
    ), "lib", "task"),
    Frame("procedure", (
        "Run `{cmd}` before deploying the {part}.",
        "Before deploying the {part}, run `{cmd}`.",
        "Before you deploy the {part}, run `{cmd}`.",
    ), "cmd"),
    Frame("gotcha", (
        "The {part} loses {thing} when {when}.",
        "When {when}, the {part} loses {thing}.",
        "{thing} are lost by the {part} when {when}.",
    ), "", "thing"),
    Frame("decision", (
        "We chose {lib} for {task} in the {part} because {why}.",
        "Because {why}, we chose {lib} for {task} in the {part}.",
        "For {task} in the {part} we chose {lib}, because {why}.",
    ), "", "task"),
    Frame("fact", (
        "The {part} job runs every night at {hour}:00 UTC.",
        "Every night at {hour}:00 UTC the {part} job runs.",
        "The {part} job is run every night at {hour}:00 UTC.",
    ), "hour"),
    Frame("fact", (
        "The {part} accepts uploads of at most {megabytes} MB.",
        "The {part} accepts uploads of up to {megabytes} MB.",
        "Uploads of at most {megabytes} MB are accepted by the {part}.",
    ), "megabytes"),
    Frame("fact", (
        "The {part} retries failed {thing} {times} times.",
        "Failed {thing} are retried {times} times by the {part}.",
        "The {part} will retry failed {thing} {times} times.",
    ), "times", "thing"),
    Frame("architecture", (
        "The {part} keeps its {thing} in {store}.",
        "The {thing} of the {part} are kept in {store}.",
        "The {part} stores its {thing} in {store}.",
    ), "store", "thing"),
    Frame("convention", (
        "Releases of the {part} are cut from the {branch} branch.",
        "We cut releases of the {part} from the {branch} branch.",
        "The {part}'s releases are cut from the {branch} branch.",
    ), "branch"),
    Frame("gotcha", (
        "The {level} tests of the {part} are flaky on {system}.",
        "On {system} the {level} tests of the {part} are flaky.",
        "The {part}'s {level} tests are flaky on {system}.",
    ), "", "level"),
    Frame("convention", (
        "Migrations of the {part} must be run by {person}.",
        "The migrations of the {part} have to be run by {person}.",
        "{person} must run the migrations of the {part}.",
    ), "person"),
    Frame("error_pattern", (
        "Error {code} from the {part} means that {meaning}.",
        "When the {part} answers with error {code}, it means that {meaning}.",
        "The {part}'s error {code} means that {meaning}.",
    ), "meaning", "code"),
    Frame("fact", (
        "Logs of the {part} go to {place}.",
        "The logs of the {part} go to {place}.",
        "The {part}'s logs go to {place}.",
    ), "place"),
    Frame("fact", (
        "The {flag} flag turns on {feature} in the {part}.",
        "In the {part}, {feature} are turned on by the {flag} flag.",
        "The {flag} flag switches on {feature} in the {part}.",
    ), "", "feature"),
    Frame("fact", (
        "In {env} the {part} uses {store}.",
        "The {part} uses {store} in {env}.",
        "The {part} is using {store} in {env}.",
    ), "store", "env"),
    Frame("fact", (
        "`{folder}/{path}.py` is generated, do not edit it by hand.",
        "Do not edit `{folder}/{path}.py` by hand, it is generated.",
        "`{folder}/{path}.py` is generated: it must not be edited by hand.",
    ), ""),
)  # fmt: skip


def _hurried(text: str, pick: random.Random) -> str:
    """The same as someone types it who is not thinking of how it was put before."""
    return pick.choice((
        lambda: text.rstrip(".").lower(),
        lambda: f"Note: {text}",
        lambda: f"Remember that {text[0].lower() if not text[:2].isupper() else text[0]}{text[1:]}",
        lambda: re.sub(r"\b[Tt]he ", "", text),
        lambda: text.replace("do not", "don't").replace("must be", "has to be").rstrip(".") + "!",
        lambda: f"FYI {text.rstrip('.')}",
    ))()  # fmt: skip


@dataclass(frozen=True, slots=True)
class Said:
    """One statement, and what it means: two with the same `fact` say the same, and no others do."""

    text: str
    kind: str
    project: int
    fact: str
    role: str  # original, duplicate, contradicted, contradiction, missed, near-miss, or filler
    twin: str = ""  # the fact it was made from; of a duplicate its own


def corpus(size: int, duplicates: int, contradictions: int, near_misses: int, seed: int = 7) -> list[Said]:
    """In the order they were said: what was made from another stands somewhere after it."""
    pick = random.Random(seed)
    makers = _Makers(pick)
    early: list[Said] = []
    late: list[Said] = []
    for role, first, count in (
        ("duplicate", "original", duplicates),
        ("contradiction", "contradicted", contradictions),
        ("near-miss", "missed", near_misses),
    ):
        goal = len(late) + count
        while len(late) < goal:
            project, frame, values = makers.fact()
            other = makers.made_from(role, project, frame, values)
            if other is None:
                continue
            wording = pick.randrange(len(frame.wordings))
            text = _fill(frame.wordings[wording], values)
            if role == "duplicate" and pick.random() < 0.4:
                said = _hurried(text, pick)
            else:  # in other words; what is no duplicate in whatever words
                step = pick.randrange(role == "duplicate", len(frame.wordings))
                said = _fill(frame.wordings[(wording + step) % len(frame.wordings)], other)
            fact = _meaning(project, frame, values)
            early.append(Said(text, frame.kind, project, fact, first))
            late.append(Said(said, frame.kind, project, _meaning(project, frame, other), role, fact))
    rest = size - len(early) - len(late)
    for text in sentences(rest // 3, seed):  # without the file that would tell any two apart
        pick.randrange(PROJECTS)
        text = text.split("; see")[0] + "."
        early.append(Said(text, "fact", LARGEST, f"{LARGEST}/{text}", "filler"))
    while len(early) + len(late) < size:
        project, frame, values = makers.fact()
        text = _fill(pick.choice(frame.wordings), values)
        early.append(Said(text, frame.kind, project, _meaning(project, frame, values), "filler"))
    pick.shuffle(early)
    pick.shuffle(late)
    return early + late


class _Makers:
    """Facts each about another part: no two of a project belong to one frame and one part, unless they are meant to."""

    def __init__(self, pick: random.Random) -> None:
        self._pick = pick
        self._seen: set[tuple[int, str, str]] = set()

    def fact(self) -> tuple[int, Frame, dict[str, str]]:
        project, frame = self._pick.randrange(PROJECTS), self._pick.choice(_FRAMES)
        values = {name: self._pick.choice(choices) for name, choices in _VALUES.items()}
        return project, frame, self._about(project, frame, values, _LEAD, _TAIL)

    def made_from(
        self, role: str, project: int, frame: Frame, values: dict[str, str]
    ) -> dict[str, str] | None:
        """The values of what is planted beside it; None where the frame has nothing that could be changed so."""
        if role == "duplicate":
            return values
        if role == "contradiction":
            return self._with_other(values, frame.value) if frame.value else None
        if frame.aspect and self._pick.random() < 0.5:
            return self._with_other(values, frame.aspect)
        lead, tail = values["part"].split()
        same_lead = self._pick.random() < 0.5
        return self._about(
            project, frame, values, [lead] if same_lead else _LEAD, _TAIL if same_lead else [tail]
        )

    def _about(
        self, project: int, frame: Frame, values: dict[str, str], leads: list[str], tails: list[str]
    ) -> dict[str, str]:
        """A part that is not yet spoken of in this frame."""
        while True:
            part = f"{self._pick.choice(leads)} {self._pick.choice(tails)}"
            if (project, frame.wordings[0], part) not in self._seen:
                self._seen.add((project, frame.wordings[0], part))
                return values | {"part": part, "path": part.replace(" ", "_")}

    def _with_other(self, values: dict[str, str], name: str) -> dict[str, str]:
        others = [value for value in _VALUES[name] if value != values[name]]
        return values | {name: self._pick.choice(others)}


def _meaning(project: int, frame: Frame, values: dict[str, str]) -> str:
    return f"{project}/{frame.wordings[0].format(**values)}"


def _fill(wording: str, values: dict[str, str]) -> str:
    text = wording.format(**values)
    return text[0].upper() + text[1:]
