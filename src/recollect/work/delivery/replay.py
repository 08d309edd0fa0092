"""What a past session would be told today: its start and its prompts again, without writing anything down."""

from collections.abc import Sequence

import recollect.model as m
from recollect.frozen import frozen
from recollect.memory.sidecar import LocalSidecar
from recollect.work.delivery.composer import Composer
from recollect.work.delivery.delivery import Delivery, DeliveryRequest, Moment
from recollect.work.delivery.told import Told

MOST_PROMPTS = 30  # of a session that are replayed; each one is a search
DEFAULT_HOST = "gemini"  # whose format is Markdown, which every agent reads


@frozen
class ReplayStep:
    """A moment of a session, with what the agent was told then and what it would be told now."""

    moment: Moment
    prompt: str  # empty at the start
    then: tuple[m.DeliveryRecord, ...]
    now: Delivery

    @property
    def is_same(self) -> bool:
        return self.now.text == "".join(record.text for record in self.then)


@frozen
class Replay:
    steps: tuple[ReplayStep, ...]
    left_out: int  # prompts beyond `MOST_PROMPTS`


def replay(
    composer: Composer,
    local: LocalSidecar,
    session: m.Session,
    messages: Sequence[m.Message],
    told: Sequence[m.DeliveryRecord],
) -> Replay:
    """Return each step of the session. No language model is asked, and nothing counts as shown, used or missing."""
    prompts = [message for message in messages if message.author == "user"]
    now_told = Told()
    steps = []
    starts = tuple(record for record in told if record.moment == Moment.START)
    host = next((record.host for record in told if record.host), session.host) or DEFAULT_HOST
    for index in range(-1, min(len(prompts), MOST_PROMPTS)):
        prompt = prompts[index].text if index >= 0 else ""
        moment = Moment.PROMPT if index >= 0 else Moment.START
        request = DeliveryRequest(moment, prompt, session=session.id, host=host, preview=True)
        now = composer.compose(request, now_told, local)
        steps.append(ReplayStep(moment, prompt, _between(told, prompts, index) if prompt else starts, now))
    return Replay(tuple(steps), max(len(prompts) - MOST_PROMPTS, 0))


def _between(
    told: Sequence[m.DeliveryRecord], prompts: Sequence[m.Message], index: int
) -> tuple[m.DeliveryRecord, ...]:
    """Return what the agent was told at a prompt: the hook runs when the prompt is sent, before or after it is recorded.

    The record that is nearest to the prompt in time is the one that belongs to it.
    """
    at_prompts = (Moment.PROMPT, Moment.AFTER_COMPACTION)
    return tuple(
        record
        for record in told
        if record.moment in at_prompts
        and min(range(len(prompts)), key=lambda place: abs(prompts[place].created_at - record.at)) == index
    )
