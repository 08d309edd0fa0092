"""The bodies of requests."""

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from recollect.remote.wire import NOWHERE, ClientVectors, Place


class CallBody(BaseModel):
    """The body of every operation."""

    model_config = ConfigDict(extra="forbid")
    place: Place = NOWHERE
    arguments: dict[str, Any]
    vectors: ClientVectors | None = None  # made by the client; None = the server makes them


class JoinBody(BaseModel):
    """An invitation code, and what the new token is called."""

    model_config = ConfigDict(extra="forbid")
    code: Annotated[str, Field(min_length=1, max_length=200)]
    client: Annotated[str, Field(min_length=1, max_length=100)] = "client"


class SignInBody(BaseModel):
    """An ID token, with an invitation code the first time, and what the new token is called."""

    model_config = ConfigDict(extra="forbid")
    id_token: Annotated[str, Field(min_length=1, max_length=16 * 1024)]
    code: Annotated[str, Field(max_length=200)] = ""
    client: Annotated[str, Field(min_length=1, max_length=100)] = "client"
