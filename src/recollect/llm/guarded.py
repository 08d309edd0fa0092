"""The way out of the machine: whatever voice is asked, it is asked with consent, without secrets, within cap and time.

When it does not answer, or says nothing that can be used, the local sidecar does.
"""

import logging
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import replace
from typing import TypeVar

import recollect.model as m
from recollect.errors import RecollectError
from recollect.llm import questions
from recollect.llm.ledger import Purse
from recollect.llm.protocol import Learnt, Sidecar, Sketch, Title, Verified
from recollect.llm.questions import Question
from recollect.llm.voice import NoAnswer, Prompt, Voice
from recollect.memory.write.contradict import Relation
from recollect.store.ledger import Outcome
from recollect.text.redact import redact
from recollect.text.tokens import count

logger = logging.getLogger(__name__)

AT_ONCE = 4  # questions under way; one more is answered locally
PATIENCE = 4  # times as long for long answers, which are asked for when a session is over
QUOTED = 500  # characters of an answer that has to be mended
THREAD = "recollect-sidecar"

Answer = TypeVar("Answer")


class GuardedSidecar:
    def __init__(
        self,
        name: str,
        voice: Voice,
        local: Sidecar,
        purse: Purse,
        agreed: Callable[[], bool],
        seconds: float,
    ) -> None:
        self.name = name
        self._voice = voice
        self._local = local
        self._purse = purse
        self._agreed = agreed
        self._seconds = seconds
        self._free = threading.BoundedSemaphore(AT_ONCE)

    def verify(self, context: str, hits: Sequence[m.Hit]) -> Verified | None:
        if not hits:
            return Verified(())
        return self._ask(lambda: questions.verify(context, hits)) or self._local.verify(context, hits)

    def extract(self, transcript: str, gaps: Sequence[str]) -> list[Learnt] | None:
        found = self._ask(lambda: questions.extract(transcript, gaps), PATIENCE)
        return found if found is not None else self._local.extract(transcript, gaps)

    def relate(self, new: str, old: str) -> Relation | None:
        return self._ask(lambda: questions.relate(new, old)) or self._local.relate(new, old)

    def classify(self, text: str, labels: Sequence[str]) -> str | None:
        if not labels:
            return None
        return self._ask(lambda: questions.classify(text, labels)) or self._local.classify(text, labels)

    def name_modules(self, modules: Sequence[Sketch]) -> list[Title] | None:
        if not modules:
            return None
        found = self._ask(lambda: questions.name_modules(modules), PATIENCE)
        return found if found is not None else self._local.name_modules(modules)

    def summarise(self, text: str, lines: int) -> str | None:
        told = self._ask(lambda: questions.summarise(text, lines), PATIENCE)
        return told or self._local.summarise(text, lines)

    def _ask(self, make: Callable[[], Question[Answer]], patience: int = 1) -> Answer | None:
        """None where there is no answer, or none in time; what comes later only reaches the ledger."""
        if not self._free.acquire(blocking=False):
            return None
        answer: Future[Answer | None] = Future()
        seconds = self._seconds * patience
        deadline = time.monotonic() + seconds
        threading.Thread(target=self._work, args=(make, deadline, answer), name=THREAD, daemon=True).start()
        try:
            return answer.result(seconds)
        except TimeoutError:
            logger.warning("the sidecar %s did not answer within %g s", self.name, seconds)
            return None

    def _work(
        self, make: Callable[[], Question[Answer]], deadline: float, answer: Future[Answer | None]
    ) -> None:
        found: Answer | None = None
        try:
            found = self._converse(make, deadline)
        except RecollectError as error:  # the store, mostly: without a ledger nothing is spent
            logger.warning("the sidecar %s was not asked: %s", self.name, error.message)
        except Exception:  # whoever waits must get an answer
            logger.exception("the sidecar %s failed", self.name)
        finally:
            self._free.release()
            answer.set_result(found)

    def _converse(self, make: Callable[[], Question[Answer]], deadline: float) -> Answer | None:
        if not self._agreed() or self._purse.resting():
            return None
        question = make()
        prompt = question.prompt()
        found = self._try(question, prompt, deadline)
        if found[1]:
            found = self._try(question, _mended(prompt, found[1]), deadline)
        return found[0]

    def _try(self, question: Question[Answer], prompt: Prompt, deadline: float) -> tuple[Answer | None, str]:
        """The answer, or what is wrong with it; neither where there was none."""
        if time.monotonic() >= deadline:
            return None, ""
        sent = count(self._voice.wording(prompt))
        call = self._purse.open(prompt.purpose, sent, prompt.most)
        if call is None:
            logger.info("the sidecar %s was not asked: that would pass the cap of the day", self.name)
            return None, ""
        try:
            said = self._voice.ask(prompt, deadline - time.monotonic())
        except NoAnswer as error:
            logger.warning("the sidecar %s did not answer: %s", self.name, error)
            self._purse.close(call, error.outcome)
            return None, ""
        except Exception:
            self._purse.close(call, Outcome.SILENT)
            raise
        tokens_in = sent if said.tokens_in is None else said.tokens_in
        tokens_out = count(said.text) if said.tokens_out is None else said.tokens_out
        try:
            answer = question.answer(said.text)
        except ValueError as error:
            self._purse.close(call, Outcome.MALFORMED, tokens_in, tokens_out)
            return None, f"{str(error)[: QUOTED // 2]}. It was: {said.text[:QUOTED]}"
        self._purse.close(call, Outcome.ANSWERED, tokens_in, tokens_out)
        return answer, ""


def _mended(prompt: Prompt, trouble: str) -> Prompt:
    told = redact(trouble)[0][:QUOTED]
    return replace(prompt, instructions=f"{prompt.instructions}\nYour last answer cannot be used: {told}")
