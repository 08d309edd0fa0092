"""The sidecar that asks a language model: with consent, without secrets, within the daily limit and the timeout."""

import logging
import os
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import replace
from typing import TypeVar

import recollect.model as m
from recollect.config import Settings
from recollect.context.store import Store
from recollect.errors import RecollectError
from recollect.llm import questions
from recollect.llm.client import LlmClient, LlmError, Prompt
from recollect.llm.consent import may_send, place
from recollect.llm.protocol import (
    LearnedStatement,
    ModuleSketch,
    ModuleTitle,
    Sidecar,
    StatementRelation,
    Verification,
)
from recollect.llm.questions import LlmQuestion
from recollect.llm.spending import SpendingLimit
from recollect.model import CallOutcome
from recollect.text.redact import redact
from recollect.text.tokens import count

logger = logging.getLogger(__name__)

MAX_CONCURRENT = 4  # questions under way; further ones are answered locally
LONG_ANSWER = 4  # times the timeout, for long answers, which are asked for when a session is over
MAX_QUOTE = 500  # characters of an answer that the model has to correct
THREAD = "recollect-sidecar"

Answer = TypeVar("Answer")


def with_llm(local: Sidecar, settings: Settings, store: Store, clock: m.Clock) -> Sidecar:
    """Return a sidecar that asks the model in the settings and falls back to `local`; `local` itself if there is no model.

    Loads no library and makes no calls.
    """
    client = open_client(settings)
    if client is None:
        return local
    limit = SpendingLimit(store.ledger, settings, place(settings), clock)
    return LlmSidecar(
        settings.sidecar, client, local, limit, lambda: may_send(settings, store), settings.sidecar_seconds
    )


def open_client(settings: Settings) -> LlmClient | None:
    """Return the client that the settings name, or None if they name no model."""
    if settings.sidecar == "http":
        from recollect.llm.http import HttpClient

        key = os.environ.get("RECOLLECT_SIDECAR_KEY")
        return HttpClient(settings.sidecar_url, settings.sidecar_model, key)
    if settings.sidecar == "command":
        from recollect.llm.command import CommandClient

        return CommandClient(settings.sidecar_command, os.environ)
    return None


def preview(settings: Settings, purpose: str, hits: Sequence[m.Hit]) -> str:
    """Return what would be sent for an example question, as the configured client renders it, or else as a server's would."""
    from recollect.llm.http import HttpClient

    client = open_client(settings) or HttpClient("", "")
    return client.render(questions.EXAMPLES[purpose](hits).prompt())


class LlmSidecar:
    """Asks `client`, and `local` when there is no usable answer in time."""

    def __init__(
        self,
        name: str,
        client: LlmClient,
        local: Sidecar,
        limit: SpendingLimit,
        may_send: Callable[[], bool],
        seconds: float,
    ) -> None:
        self.name = name
        self._client = client
        self._local = local
        self._limit = limit
        self._may_send = may_send
        self._seconds = seconds
        self._free = threading.BoundedSemaphore(MAX_CONCURRENT)

    def verify(self, context: str, hits: Sequence[m.Hit]) -> Verification | None:
        if not hits:
            return Verification(())
        return self._ask(lambda: questions.verify(context, hits)) or self._local.verify(context, hits)

    def extract(self, transcript: str, gaps: Sequence[str]) -> list[LearnedStatement] | None:
        answer = self._ask(lambda: questions.extract(transcript, gaps), LONG_ANSWER)
        return answer if answer is not None else self._local.extract(transcript, gaps)

    def relate(self, new: str, old: str) -> StatementRelation | None:
        return self._ask(lambda: questions.relate(new, old)) or self._local.relate(new, old)

    def name_modules(self, modules: Sequence[ModuleSketch]) -> list[ModuleTitle] | None:
        if not modules:
            return None
        answer = self._ask(lambda: questions.name_modules(modules), LONG_ANSWER)
        return answer if answer is not None else self._local.name_modules(modules)

    def summarise(self, text: str, lines: int) -> str | None:
        answer = self._ask(lambda: questions.summarise(text, lines), LONG_ANSWER)
        return answer or self._local.summarise(text, lines)

    def _ask(self, make: Callable[[], LlmQuestion[Answer]], timeouts: int = 1) -> Answer | None:
        """Return the answer, or None if there is none in time; a later one only reaches the ledger."""
        if not self._free.acquire(blocking=False):
            return None
        answer: Future[Answer | None] = Future()
        seconds = self._seconds * timeouts
        deadline = time.monotonic() + seconds
        threading.Thread(target=self._work, args=(make, deadline, answer), name=THREAD, daemon=True).start()
        try:
            return answer.result(seconds)
        except TimeoutError:
            logger.warning("the sidecar %s did not answer within %g s", self.name, seconds)
            return None

    def _work(
        self, make: Callable[[], LlmQuestion[Answer]], deadline: float, future: Future[Answer | None]
    ) -> None:
        answer: Answer | None = None
        try:
            answer = self._converse(make, deadline)
        except RecollectError as error:  # the store, mostly: without a ledger nothing is spent
            logger.warning("the sidecar %s was not asked: %s", self.name, error.message)
        except Exception:  # the caller must get an answer
            logger.exception("the sidecar %s failed", self.name)
        finally:
            self._free.release()
            future.set_result(answer)

    def _converse(self, make: Callable[[], LlmQuestion[Answer]], deadline: float) -> Answer | None:
        """Ask, and once more if the model has to correct its answer."""
        if not self._may_send() or self._limit.is_pausing():
            return None
        question = make()
        prompt = question.prompt()
        answer, problem = self._try(question, prompt, deadline)
        if problem:
            answer, _ = self._try(question, _with_problem(prompt, problem), deadline)
        return answer

    def _try(
        self, question: LlmQuestion[Answer], prompt: Prompt, deadline: float
    ) -> tuple[Answer | None, str]:
        """Return the answer, or what is wrong with it; neither if there is none."""
        if time.monotonic() >= deadline:
            return None, ""
        sent = count(self._client.render(prompt))
        call = self._limit.reserve(prompt.purpose, sent, prompt.max_tokens)
        if call is None:
            logger.info("the sidecar %s was not asked: that would exceed the daily limit", self.name)
            return None, ""
        try:
            reply = self._client.ask(prompt, deadline - time.monotonic())
        except LlmError as error:
            logger.warning("the sidecar %s did not answer: %s", self.name, error)
            self._limit.settle(call, error.outcome)
            return None, ""
        except Exception:
            self._limit.settle(call, CallOutcome.SILENT)
            raise
        tokens_in = sent if reply.tokens_in is None else reply.tokens_in
        tokens_out = count(reply.text) if reply.tokens_out is None else reply.tokens_out
        try:
            answer = question.answer(reply.text)
        except ValueError as error:
            self._limit.settle(call, CallOutcome.MALFORMED, tokens_in, tokens_out)
            return None, f"{str(error)[: MAX_QUOTE // 2]}. It was: {reply.text[:MAX_QUOTE]}"
        self._limit.settle(call, CallOutcome.ANSWERED, tokens_in, tokens_out)
        return answer, ""


def _with_problem(prompt: Prompt, problem: str) -> Prompt:
    quoted = redact(problem)[0][:MAX_QUOTE]
    return replace(prompt, instructions=f"{prompt.instructions}\nYour last answer cannot be used: {quoted}")
