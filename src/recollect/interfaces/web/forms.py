"""Reading the fields of addresses and forms, and the token that shows that a form is ours."""

from secrets import compare_digest
from urllib.parse import parse_qsl

import anyio
from starlette.exceptions import HTTPException
from starlette.requests import Request

from recollect.interfaces.web.access import Login
from recollect.interfaces.web.guard import MAX_BODY

FORM_SECONDS = 15.0  # in which a form must be there
MAX_FIELDS = 1000  # of a form

Fields = list[tuple[str, str]]


async def read_form(request: Request) -> Fields:
    """Return the fields of a form. Who sends it too slowly is not waited for."""
    with anyio.move_on_after(FORM_SECONDS):
        return await _read_form(request)
    raise HTTPException(408, headers={"Connection": "close"})


async def _read_form(request: Request) -> Fields:
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > MAX_BODY:  # the guard has checked the length that the request states
            raise HTTPException(413)
    try:
        return read_fields(body.decode("utf-8"))
    except UnicodeDecodeError:
        raise HTTPException(400) from None


def read_fields(text: str) -> Fields:
    """Return the names and values of an address or a form; surrogates and broken bytes become a replacement sign."""
    try:
        return parse_qsl(text, keep_blank_values=True, max_num_fields=MAX_FIELDS)
    except ValueError:  # too many
        raise HTTPException(400) from None


def has_token(login: Login, request: Request, form: Fields) -> bool:
    """Return whether the request has the token of this login's forms, in a field or a header."""
    token = request.headers.get("x-csrf-token") or dict(form).get("csrf", "")
    return compare_digest(token.encode(), login.csrf.encode())
