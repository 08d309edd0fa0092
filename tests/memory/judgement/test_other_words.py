"""The same in other words is merged; what has another condition, value, order, subject or polarity is not."""

import pytest

from recollect.llm.protocol import StatementRelation
from recollect.memory.judgement.compare import compare

SAME = [
    ("The emulator hangs with less than 8 GB of RAM.", "With less than 8 GB RAM the emulator freezes.", 0.9),
    ("Each worker handles at most ten jobs at once.", "A worker processes up to 10 jobs concurrently.", 0.83),
    ("Uploads are limited to 2048 MB.", "The upload limit is 2 GB.", 0.9),
    ("A token expires after 30 minutes of inactivity.", "After half an hour without activity a token becomes invalid.", 0.78),
    ("Only the release manager may tag a version.", "Tagging a version is reserved for the release manager.", 0.88),
    ("The flaky checkout test is quarantined.", "checkout test is in quarantine because it flakes", 0.88),
    ("Only the gateway talks to the auth server.", "No service except the gateway calls the auth server.", 0.83),
    ("Only Kerstin can approve IAM changes.", "IAM changes need Kerstin's approval, nobody else can give it.", 0.84),
    ("Deploy the API before the worker.", "The worker is deployed after the API.", 0.86),
    ("Use the builder to construct requests.", "Requests are made with the builder.", 0.85),
    ("Half of the load goes to node b.", "Node b receives half of the load.", 0.9),
    ("Jobs run at a fixed time step.", "Jobs run at a fixed timestep.", 0.85),
    ("Two pages are compared by their hashes.", "The comparison of two pages is by their hashes.", 0.85),
    ("The API returns prices in cents.", "prices from the API: cents", 0.9),
    ("The cache is wiped every Sunday.", "Every Sunday the cache gets reset.", 0.85),
    ("We replaced Celery with Dramatiq.", "Dramatiq has taken the place of Celery.", 0.9),
    ("The tests need a running Redis.", "Without Redis up, the tests fail.", 0.9),
    ("Never merge without a green pipeline.", "Only merge when the pipeline is green.", 0.88),
    ("The watchdog fires after 500 ms.", "After half a second the watchdog fires.", 0.78),
    ("API keys expire after 1 year.", "API keys expire after 12 months.", 0.9),
    ("The exporter hangs with drivers older than 550.", "The exporter hangs with drivers below 550.", 0.9),
    ("The documentation is built with Sphinx.", "Docs: Sphinx", 0.87),
    ("Only maintainers may publish packages.", "Publishing packages is limited to maintainers.", 0.89),
    ("Never edit the schema by hand.", "The schema must not be hand-edited.", 0.85),
    ("The project needs Python 3.12 or newer.", "Python >= 3.12 is required by the project.", 0.8),
]  # fmt: skip
TWO = [
    ("`pnpm build` runs `turbo build`.", "`pnpm test` runs `turbo test`.", 0.79),
    ("Retries are enabled.", "Retries are enabled for idempotent requests only.", 0.9),
    ("The CLI prints JSON.", "The CLI prints JSON when --json is given.", 0.93),
    ("Jana reviews the migrations.", "Jana and Piotr review the migrations.", 0.93),
    ("The worker keeps failed jobs.", "The worker purges failed jobs.", 0.9),
    ("The job reads the report.", "The job deletes the report.", 0.9),
    ("Failed jobs are retried.", "Failed requests are retried.", 0.88),
    ("The limit is 10 rows.", "The limit is 10 columns.", 0.9),
    ("Does the exporter support Avro?", "The exporter supports Avro.", 0.95),
    ("The worker retries failed jobs.", "The worker retries failed jobs that were cancelled.", 0.9),
    ("The pool has at least 5 connections.", "The pool has at most 5 connections.", 0.96),
    ("CI caches and builds the images.", "CI builds the images.", 0.93),
    ("The gateway sends events to the ledger.", "The gateway receives events from the ledger.", 0.92),
    ("Invoices are sent to the ledger.", "Invoices come from the ledger.", 0.9),
    ("Uploads are validated in the worker.", "Uploads are kept in the worker.", 0.88),
    ("Backups are deleted after 30 days.", "Backups are archived after 30 days.", 0.92),
    ("The largest pool has 5 connections.", "The smallest pool has 5 connections.", 0.95),
    ("Snapshot tests run in parallel.", "Tests run in parallel.", 0.92),
    ("Run the seeders before the migrations.", "Migrations run first, then the seeders.", 0.85),
]


@pytest.mark.parametrize(("old", "new", "cosine"), SAME)
def test_the_same_in_other_words_is_certain(old, new, cosine):
    verdict = compare(new, old, cosine)

    assert verdict.relation in (StatementRelation.DUPLICATE, StatementRelation.MERGEABLE)
    assert verdict.certain


@pytest.mark.parametrize(("old", "new", "cosine"), TWO)
def test_what_says_more_or_less_is_not_merged(old, new, cosine):
    verdict = compare(new, old, cosine)

    assert not (
        verdict.certain and verdict.relation in (StatementRelation.DUPLICATE, StatementRelation.MERGEABLE)
    )


def test_another_name_for_what_does_the_same_is_asked_even_if_nobody_knows_the_tool():
    verdict = compare("Bills are rendered with PaperPress.", "Bills are rendered with htmltopage.", 0.7)

    assert verdict.relation is StatementRelation.CONTRADICTION


def test_what_has_moved_elsewhere_is_asked_about():
    moved = compare("Session data has moved to DynamoDB.", "Session data sits in Redis.", 0.6)
    other = compare("We moved the build to Bazel.", "Build logs are kept in S3.", 0.6)

    assert moved.relation is StatementRelation.CONTRADICTION
    assert other.relation is not StatementRelation.CONTRADICTION


def test_vectors_alone_merge_nothing():
    verdict = compare("The importer is fed by cron.", "The importer is fed by hand.", 0.99)

    assert not verdict.certain or verdict.relation is StatementRelation.CONTRADICTION


def test_another_order_contradicts():
    verdict = compare(
        "The worker has to be deployed before the API.", "Deploy the API before the worker.", 0.85
    )

    assert verdict.relation is StatementRelation.CONTRADICTION
    assert verdict.explanation == "API before worker / the other way (rule other order, certain)"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Logs go to Loki.", "Logs go to Datadog."),
        ("The importer reads CSV.", "The importer reads Parquet."),
        ("Ana reviews frontend PRs.", "Tom reviews frontend PRs."),
        ("The job runs on Monday.", "The job runs on Thursday."),
        ("Version 2 of the API is stable.", "Version 3 of the API is stable."),
        ("Open the firewall for port 5432.", "Close the firewall for port 5432."),
        ("Enable strict mode in tsconfig.json.", "Disable strict mode in tsconfig.json when migrating."),
        ("The feature is off by default.", "The feature is on."),
        ("We moved the docs from Sphinx to MkDocs.", "The API reference is built with Sphinx."),
        ("Redis is used only for caching.", "Redis also holds the sessions, it's not just a cache."),
    ],
)
def test_what_may_both_hold_supersedes_nothing(old, new):
    verdict = compare(new, old, 0.8)

    assert not (verdict.certain and verdict.relation is StatementRelation.CONTRADICTION)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Logs go to Loki.", "Logs now go to Datadog."),
        ("The bundler is webpack.", "The bundler is Vite."),
        ("Use tabs in Makefiles.", "Use spaces in Makefiles."),
        ("Two approvals are needed to merge.", "One approval is enough for merging."),
        ("Images are stored on the local disk.", "Images go to S3 instead of the local disk."),
    ],
)
def test_what_is_said_to_replace_or_has_one_value_supersedes(old, new):
    verdict = compare(new, old, 0.8)

    assert verdict.certain
    assert verdict.relation is StatementRelation.CONTRADICTION


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("CI runs on CircleCI.", "CI runs on Buildkite."),
        ("Orders are kept in MySQL.", "Orders live in CockroachDB."),
        ("Reports are mailed to finance.", "Reports are no longer mailed to finance; they download them."),
        ("Marta owns the billing code.", "The billing code belongs to Jonas."),
        ("Access tokens live for 15 minutes.", "An access token expires after 30 minutes."),
        ("We use Memcached for sessions.", "We switched from Memcached to Redis for sessions."),
        ("Feature flags come from Unleash.", "Use LaunchDarkly instead of Unleash for feature flags."),
    ],
)
def test_another_value_for_the_same_or_the_word_that_it_is_over_is_certain(old, new):
    verdict = compare(new, old, 0.7)

    assert (verdict.relation, verdict.certain) == (StatementRelation.CONTRADICTION, True)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Alerts go to Slack.", "Alerts go to Teams."),
        ("The exporter supports MySQL.", "The exporter supports Postgres."),
        ("We use Postgres.", "We use MySQL."),
        ("Drafts are deleted after 14 days.", "Drafts are archived after 30 days."),
        ("requires-python is >=3.13.", "The platform runs on Python 3.12."),
        ("Jana reviews the migrations.", "Piotr reviews the migrations."),
        ("API v1 returns XML.", "API v2 returns JSON."),
        ("The SDK supports Python.", "The SDK supports Ruby as well."),
        ("Bay 3 of the rig drives the left motor.", "Bay 4 of the rig drives the right motor."),
        ("Deploys to Heroku need the token.", "We no longer deploy to Heroku."),
        ("The worker pulls jobs from the queue.", "The worker pushes jobs to the queue."),
    ],
)
def test_what_may_stand_beside_the_other_is_asked(old, new):
    assert not compare(new, old, 0.8).certain


@pytest.mark.parametrize(
    "new",
    [
        "PRs to docs need one approval.",
        "PRs in docs need one approval.",
        "Docs PRs need one approval.",
        "PRs that touch docs need one approval.",
        "PRs against main need three approvals.",
    ],
)
def test_a_value_for_some_of_the_things_does_not_supersede_the_one_for_all(new):
    assert not compare(new, "PRs need two approvals.", 0.8).certain


def test_another_value_for_all_of_them_does():
    verdict = compare("PRs need one approval.", "PRs need two approvals.", 0.8)

    assert (verdict.relation, verdict.certain) == (StatementRelation.CONTRADICTION, True)
