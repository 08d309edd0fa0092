"""Sentences a developer might have remembered, made up from word lists: as many as one likes, none alike."""

import random

_PARTS = """scheduler gateway parser cache billing search importer mailer uploader indexer router tokenizer planner
ledger renderer exporter crawler notifier watcher resolver compiler linker profiler tracer limiter balancer archiver
checker seeder mapper reducer cluster replica shard broker consumer producer session cookie upload invoice payment
webhook tenant report dashboard catalogue inventory shipment refund voucher locale theme avatar comment thread""".split()
_VERBS = """reads writes retries skips caches validates normalises batches drops signs encrypts compresses logs counts
rejects forwards merges splits rotates pins loads stores hashes sorts filters streams""".split()
_OBJECTS = """orders tokens headers rows pages images events metrics locks leases secrets migrations fixtures snapshots
indexes queues topics partitions certificates manifests receipts payloads cursors thumbnails audit-lines feature-flags
translations attachments checksums heartbeats""".split()
_WHEN = """before every deploy|only on the main branch|when the disk is nearly full|after the nightly job|unless the flag is
off|as soon as a client disconnects|while holding the advisory lock|during the maintenance window|once per tenant|for
requests above the size limit|because the vendor's API is slow|since the last incident|to keep the tests quick|on
machines without a GPU|if the config has no override""".replace("\n", " ").split("|")
_FOLDERS = "core api web jobs billing auth search infra tools scripts storage ui".split()


def sentences(count: int, seed: int = 0) -> list[str]:
    """Unlike one another: each has its own file and number."""
    pick = random.Random(seed)
    made = []
    for number in range(count):
        part, other = pick.sample(_PARTS, 2)
        made.append(
            f"The {part} {pick.choice(_VERBS)} {pick.choice(_OBJECTS)} of the {other} {pick.choice(_WHEN)};"
            f" see {pick.choice(_FOLDERS)}/{part}_{other}_{number}.py."
        )
    return made
