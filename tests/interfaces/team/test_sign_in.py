"""Sign-in with an identity provider: a real one on this machine, with keys of its own."""

import base64
import json

import jwt
import pytest
from cryptography.hazmat.primitives import serialization

from fakes import FakeEmbedder
from openid_provider import CLIENT, OpenIdServer, new_key
from recollect.errors import TeamError, TokenRefused
from recollect.interfaces.team.oidc import NEW_KEY_SECONDS, OpenIdProvider
from recollect.remote.client import TeamClient
from team_server import running


@pytest.fixture
def provider():
    server = OpenIdServer()
    yield server
    server.close()


@pytest.fixture
def team(home, postgres_team, provider):
    """A team server that trusts the identity provider."""
    trusted = OpenIdProvider(provider.issuer, CLIENT)
    with running(postgres_team, home, FakeEmbedder(), provider=trusted) as team:
        yield team


def test_somebody_signs_in_with_an_invitation_once_and_then_without(team, ada, person, provider):
    ben = person("ben")
    code = ada.run("team", "invite", "Ben", "--json").json["code"]

    first = ben.run("login", team.address, "--oidc", "--code", code, "--yes")
    assert first.code == 0, first.err
    assert f"Open {provider.issuer}/enter in a browser and enter WDJB" in first.err
    assert "Ben (member) in Shop" in ben.run("whoami").out
    ben.run("logout")

    assert ben.run("login", team.address, "--oidc", "--yes").code == 0
    assert "Ben (member) in Shop" in ben.run("whoami").out
    tokens = ben.run("team", "token", "list", "--json").json["tokens"]
    assert all(token["expires_at"] for token in tokens)


def test_a_stranger_a_refusal_and_somebody_who_was_removed_do_not_get_in(team, ada, person, provider):
    ben = person("ben")
    unknown = ben.run("login", team.address, "--oidc", "--yes")
    assert "Nobody in a team signs in with this identity" in unknown.err
    code = ada.run("team", "invite", "Ben", "--json").json["code"]
    ben.run("login", team.address, "--oidc", "--code", code, "--yes")
    ben.run("logout")

    provider.refuses = True
    assert "was refused" in ben.run("login", team.address, "--oidc", "--yes").err
    provider.refuses = False
    ada.run("team", "remove", "Ben")
    assert ben.run("login", team.address, "--oidc", "--yes").code == 1


def test_somebody_who_was_removed_is_invited_again(team, ada, person):
    ben = person("ben")
    for _ in range(2):
        code = ada.run("team", "invite", "Ben", "--json").json["code"]
        joined = ben.run("login", team.address, "--oidc", "--code", code, "--yes")
        assert joined.code == 0, joined.err
        ben.run("logout")
        assert ben.run("login", team.address, "--oidc", "--yes").code == 0
        ben.run("logout")
        ada.run("team", "remove", "Ben")


def test_one_identity_is_in_two_teams_and_signs_in_to_the_one_it_joined_last(team, ada, person):
    ben, eve = person("ben"), team.new_team("Bank", "Eve")
    shop = ada.run("team", "invite", "Ben", "--json").json["code"]
    ben.run("login", team.address, "--oidc", "--code", shop, "--yes")
    ben.run("logout")

    joined = ben.run("login", team.address, "--oidc", "--code", eve.call("invite", name="Ben").code, "--yes")
    assert "Ben (member) in Bank" in ben.run("whoami").out, joined.err
    ben.run("logout")
    ben.run("login", team.address, "--oidc", "--yes")
    assert "Ben (member) in Bank" in ben.run("whoami").out
    ben.run("logout")

    again = eve.call("invite", name="Benedikt").code
    assert "already" in ben.run("login", team.address, "--oidc", "--code", again, "--yes").err
    assert [person.name for person in eve.call("members")] == ["Eve", "Ben"]


def _unsigned(provider):
    _, body, _ = provider.id_token().split(".")
    header = base64.urlsafe_b64encode(json.dumps({"alg": "none", "kid": "k1"}).encode()).rstrip(b"=").decode()
    return f"{header}.{body}."


def _signed_with_the_public_key(provider):
    """The old trick: a token with an HMAC whose secret is the key that everybody can read."""
    public = provider.keys["k1"].public_key()
    secret = public.public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
    _, body, _ = provider.id_token().split(".")
    head = base64.urlsafe_b64encode(json.dumps({"alg": "HS256", "kid": "k1"}).encode()).rstrip(b"=").decode()
    algorithm = jwt.algorithms.HMACAlgorithm(jwt.algorithms.HMACAlgorithm.SHA256)
    signature = base64.urlsafe_b64encode(algorithm.sign(f"{head}.{body}".encode(), secret)).rstrip(b"=")
    return f"{head}.{body}.{signature.decode()}"


FORGED = {
    "expired": lambda provider: provider.id_token(exp=1_000_000_000),
    "of another issuer": lambda provider: provider.id_token(iss="https://evil.example"),
    "for another program": lambda provider: provider.id_token(aud="other"),
    "given to another program": lambda provider: provider.id_token(azp="other"),
    "without a subject": lambda provider: provider.id_token(sub=None),
    "without an expiry": lambda provider: provider.id_token(exp=None),
    "from the future": lambda provider: provider.id_token(iat=4_000_000_000),
    "signed with another key": lambda provider: provider.id_token(key=new_key()),
    "with an unknown key": lambda provider: provider.id_token(kid="k9", key=new_key()),
    "unsigned": _unsigned,
    "signed with the public key": _signed_with_the_public_key,
    "no token": lambda provider: "abc",
    "altered": lambda provider: provider.id_token()[:-4] + "AAAA",
}


def test_no_forged_token_is_accepted(provider):
    trusted = OpenIdProvider(provider.issuer, CLIENT)
    assert trusted.identity(provider.id_token())

    refused = [what for what, forge in FORGED.items() if _is_refused(trusted, forge(provider))]

    assert refused == list(FORGED)


def _is_refused(trusted, token):
    try:
        trusted.identity(token)
    except TokenRefused:
        return True
    return False


def test_keys_are_kept_and_read_again_when_the_provider_has_a_new_one(provider):
    now = 1000.0
    trusted = OpenIdProvider(provider.issuer, CLIENT, lambda: now)
    first = trusted.identity(provider.id_token())
    assert trusted.identity(provider.id_token()) == first
    assert provider.keys_read == 1
    provider.add_key("k2")

    with pytest.raises(TokenRefused):  # strangers cannot make the server ask all the time
        trusted.identity(provider.id_token(kid="k2"))
    now += NEW_KEY_SECONDS
    assert trusted.identity(provider.id_token(kid="k2")) == first
    assert provider.keys_read == 2


def test_a_provider_that_is_away_is_said_to_be(team):
    provider = OpenIdServer()
    provider.close()

    with pytest.raises(TeamError, match="does not answer"):
        OpenIdProvider(provider.issuer, CLIENT).identity(provider.id_token())
    anyone = TeamClient(team.address, "")
    body = json.dumps({"id_token": "x" * 20_000}).encode()
    with pytest.raises(Exception, match="not valid"):
        anyone.request("POST", "/api/v1/sign-in", body)
    anyone.close()
