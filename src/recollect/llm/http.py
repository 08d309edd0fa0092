"""A client for servers with OpenAI's chat API (Ollama, vLLM, cloud providers) or Anthropic's."""

import asyncio
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from recollect.llm.client import LlmAnswer, LlmError, Prompt
from recollect.llm.consent import is_loopback
from recollect.model import INJECTED_MARK, CallOutcome

if TYPE_CHECKING:
    from httpx2 import AsyncClient
    from pydantic_ai.models import Model, ModelRequestParameters

NO_SCHEMA = (400, 422)  # the status of a server that does not support `response_format`


@dataclass(slots=True)
class HttpClient:
    """Sends each text once, to the given address only: it follows no redirects and the libraries do not retry."""

    url: str
    model: str
    key: str | None = None  # None = the server needs none
    structured: bool = True  # until the server refuses a schema

    def render(self, prompt: Prompt) -> str:
        return f"{prompt.instructions}\n\n{_fenced(prompt)}"

    def ask(self, prompt: Prompt, seconds: float) -> LlmAnswer:
        try:
            from pydantic_ai import exceptions as errors  # 1.5 s, with the libraries of the providers
        except ImportError:
            raise LlmError(
                "its libraries are missing; run `pip install 'recollect[llm]'`", CallOutcome.REFUSED
            ) from None
        until = time.monotonic() + seconds
        try:
            return asyncio.run(self._ask(prompt, seconds))
        except errors.ModelHTTPError as error:
            if self.structured and error.status_code in NO_SCHEMA:
                self.structured = False
                return self.ask(prompt, until - time.monotonic())
            raise LlmError(f"the server answered {error.status_code}", CallOutcome.REFUSED) from error
        except errors.ModelConnectionError as error:
            unsent = error.phase in ("pool", "connect")
            raise LlmError(
                "the connection failed", CallOutcome.REFUSED if unsent else CallOutcome.SILENT
            ) from error
        except errors.AgentRunError as error:
            raise LlmError(str(error).partition("\n")[0][:200]) from error

    async def _ask(self, prompt: Prompt, seconds: float) -> LlmAnswer:
        from httpx2 import AsyncClient
        from pydantic_ai.direct import model_request
        from pydantic_ai.messages import ModelRequest, UserPromptPart
        from pydantic_ai.settings import ModelSettings

        # A proxy cannot reach our loopback.
        async with AsyncClient(follow_redirects=False, trust_env=not is_loopback(self.url)) as client:
            model = self._model(client)
            answer = await model_request(
                model,
                [ModelRequest([UserPromptPart(_fenced(prompt))], instructions=prompt.instructions)],
                model_settings=ModelSettings(
                    max_tokens=prompt.max_tokens,
                    timeout=seconds,
                    request_timeout=max(seconds, 0.001),
                    max_retries=0,
                ),
                model_request_parameters=self._parameters(prompt, model),
            )
        usage = answer.usage
        return LlmAnswer(answer.text or "", usage.input_tokens or None, usage.output_tokens or None)

    def _model(self, client: "AsyncClient") -> "Model":
        # Without a key of ours, the libraries would send the one they find in their own variables.
        key = self.key or "none"
        if speaks_anthropic(self.url):
            from pydantic_ai.models.anthropic import AnthropicModel
            from pydantic_ai.providers.anthropic import AnthropicProvider

            anthropic = AnthropicProvider(api_key=key, base_url=self.url, http_client=client)
            return AnthropicModel(self.model, provider=anthropic)
        from pydantic_ai.models.openai import OpenAIChatModel
        from pydantic_ai.profiles.openai import OpenAIModelProfile
        from pydantic_ai.providers.openai import OpenAIProvider

        openai = OpenAIProvider(api_key=key, base_url=self.url, http_client=client)
        own = (urlsplit(self.url).hostname or "").endswith("openai.com")  # others support only the older name
        profile = OpenAIModelProfile(openai_chat_supports_max_completion_tokens=own)
        return OpenAIChatModel(self.model, provider=openai, profile=profile)

    def _parameters(self, prompt: Prompt, model: "Model") -> "ModelRequestParameters":
        """Pass the schema if the server supports it; the instructions contain it in any case."""
        from pydantic_ai.models import ModelRequestParameters
        from pydantic_ai.output import OutputObjectDefinition

        if not (self.structured and model.profile.get("supports_json_schema_output", False)):
            return ModelRequestParameters()
        answer = OutputObjectDefinition(dict(prompt.schema), name=prompt.purpose)
        return ModelRequestParameters(output_mode="native", output_object=answer)


def speaks_anthropic(url: str) -> bool:
    return "anthropic" in url.lower()


def _fenced(prompt: Prompt) -> str:
    """Return the data with a mark that keeps it from being learnt if a transcript of it is read."""
    return f'<data source="{INJECTED_MARK}">\n{prompt.data}\n</data>'
