"""Five hundred statements, 20 about each of 25 services: all different, and none contradicts another.

Told to `remember` one after the other, none may supersede or be merged into another. They are alike on purpose: each
frame is said of every service, mostly with another value.
"""

import random

SERVICES = (
    "billing catalog checkout identity inventory ledger loyalty mailer media notifications orders payouts pricing profile "
    "quotes refunds reports reviews search sessions shipping subscriptions tax tracking webhooks"
).split()

_LANGUAGES = ("Go", "Kotlin", "Python", "Rust", "TypeScript")
_TESTS = (
    "go test ./...",
    "./gradlew check",
    "pytest -q",
    "cargo nextest run",
    "pnpm vitest run",
)  # by language
_TEAMS = ("Anvil", "Birch", "Comet", "Delta", "Ember", "Fjord", "Grove")
_STORES = ("Postgres", "DynamoDB", "MySQL", "MongoDB", "Cassandra", "SQLite")
_REVIEWERS = ("Adaeze", "Bruno", "Chiara", "Dmitri", "Elif", "Farah", "Gustav", "Hana", "Ivo")
_DAYS = ("Mondays", "Tuesdays", "Wednesdays", "Thursdays")


def statements(seed: int = 17) -> list[str]:
    """All statements in a fixed order, in which frames and services are mixed."""
    made = [text for number, name in enumerate(SERVICES) for text in _about(name, number)]
    random.Random(seed).shuffle(made)
    return made


def _about(name: str, number: int) -> tuple[str, ...]:
    is_even = number % 2 == 0
    return (
        f"The {name} service listens on port {7100 + 3 * number}.",
        f"{name} is written in {_LANGUAGES[number % len(_LANGUAGES)]}.",
        f"Tests of {name} are run with `{_TESTS[number % len(_TESTS)]}`.",
        f"Team {_TEAMS[number % len(_TEAMS)]} owns {name}.",
        f"The {name} service keeps its data in {_STORES[number % len(_STORES)]}.",
        f"Pods of {name} are limited to {256 + 64 * number} MB of memory.",
        f"A request to {name} times out after {2 + number} seconds.",
        f"Logs of the {name} service are kept for {7 + 2 * number} days.",
        f"{_REVIEWERS[number % len(_REVIEWERS)]} reviews changes to the public API of {name}.",
        f"We deploy {name} on {_DAYS[number % len(_DAYS)]}.",
        f"A failed call from {name} to another service is retried {1 + number % 6} times.",
        f"In staging, {name} runs with {1 + number % 4} replicas.",
        f"The Helm values of {name} are in deploy/{name}/values.yaml.",
        f"Alerts about {name} go to #{name}-alerts.",
        f"The {name} service {'may' if is_even else 'must not'} be called from the browser.",
        f"Migrations of {name} are applied {'automatically at start' if is_even else 'by hand before a deploy'}.",
        f"The runbook for incidents in {name} is docs/runbooks/{name}.md.",
        f"Answers of {name} are cached for {2 + number} minutes at the edge.",
        f"{name} {'publishes' if is_even else 'does not publish'} its changes to Kafka.",
        f"The flag `{name}_next` switches clients to version {2 + number % 5} of the {name} API.",
    )


def main() -> None:
    print("\n".join(statements()))


if __name__ == "__main__":
    main()
