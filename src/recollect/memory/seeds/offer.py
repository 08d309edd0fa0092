"""Offer seeds as memories that wait for review: each once, whatever the answer was."""

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta

import recollect.model as m
from recollect.context.store import Store
from recollect.errors import LimitReached, Refused
from recollect.frozen import frozen
from recollect.memory.seeds.seed import Seed
from recollect.text.redact import redact

_OFFERED = "seeds_offered"  # a setting of the project, with fingerprints

Remember = Callable[..., m.Receipt]


@frozen
class SeedOffer:
    found: int
    new: tuple[str, ...]  # ids of the memories that wait for review


def offer_seeds(
    store: Store, remember: Remember, seeds: Sequence[Seed], user_id: str, project_id: str, now: datetime
) -> SeedOffer:
    """Write each new seed with `remember`, which redacts secrets and finds duplicates, and ask for a review of it."""
    before: list[str] = store.setting(project_id, _OFFERED) or []
    offered = list(before)
    names = {_name(seed): seed for seed in seeds}
    new: list[str] = []
    for name, seed in names.items():
        if name in offered:
            continue
        try:
            receipt = remember(
                seed.content,
                kind=seed.kind,
                created_by=f"{m.SEEDS_OF}{project_id}",  # each project has its own limit
                source=m.Source.SEEDED,
                standing=m.Standing.CANDIDATE,
                snippet=seed.source,
                importance=seed.confidence,
                file_paths=seed.file_paths,
            )
        except LimitReached:
            break  # the rest is offered another day
        except Refused:
            offered.append(name)  # too long, or private
            continue
        offered.append(name)
        if not receipt.is_duplicate or _is_seedling(store.get(receipt.id)):
            asked_at = now + timedelta(milliseconds=len(new))  # questions are shown in this order
            question = m.Review(
                m.new_id(asked_at), user_id, project_id, "seed", (receipt.id,), f"found in {seed.source}", now
            )
            if store.reviews.ask(question):
                new.append(receipt.id)
    if offered != before:
        store.set_setting(project_id, _OFFERED, offered)
    return SeedOffer(len(names), tuple(new))


def _is_seedling(memory: m.Memory) -> bool:
    """Return whether we wrote it: if we were interrupted before asking for a review, we ask now."""
    return memory.is_proposal


def _name(seed: Seed) -> str:
    """Return the fingerprint of the redacted text: not even a hash of a secret is stored."""
    return m.fingerprint(redact(seed.content)[0])
