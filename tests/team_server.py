"""A real team server on this machine, and people who use it."""

import contextlib
import json
import threading
import time
from dataclasses import dataclass

import recollect.model as m
from recollect.config import load_settings
from recollect.interfaces.team.limits import Rates
from recollect.interfaces.team.server import Listening, TeamServer, build
from recollect.model.team import Role, Token
from recollect.remote.client import TeamClient
from recollect.remote.secrets import new_secret
from recollect.remote.wire import Place

SHOP = Place(("remote:example.com/team/shop",), "shop")
FAST = Rates(person=0, writes=0, tenant=0, joins=0, person_day=0, agent_day=0, tenant_day=0)  # 0 = no limit


@dataclass
class Member:
    """A person with a token, who calls operations."""

    id: str
    name: str
    tenant: str
    token: str
    client: TeamClient

    def call(self, operation, *, place=SHOP, actor="user", key=None, **arguments):
        return self.client.call(operation, arguments, place, actor, key)


class RunningTeam:
    """A server in a thread of this process."""

    def __init__(self, backend, home, embedder, rates=FAST, clock=m.utc_now, provider=None):
        self.backend = backend
        self._parts = (load_settings(home), embedder, rates, clock, provider)
        self._clients = []
        self.start(0)
        self.address = self.server.address

    def start(self, port=None):
        """Start a server, like one that another machine runs: nothing of the one before is known to it."""
        self.app = build(self.backend, *self._parts)
        self.server = TeamServer(self.app, Listening(port=self.server.port if port is None else port))
        self._thread = threading.Thread(target=self.server.run, daemon=True)
        self._thread.start()
        while not self.server.started:
            time.sleep(0.002)

    def stop(self):
        self.server.stop()
        self._thread.join(10)

    def new_team(self, name="Shop", owner="Ada"):
        return self._with_token(self.backend.directory.create_team(name, owner, m.utc_now()))

    def add(self, owner, name, role=Role.MEMBER, *, quarantine=False):
        """Invite a person and let them join."""
        invite = owner.call("invite", name=name, role=role)
        joined = join(self.address, invite.code)
        owner.call("flag_member", person=name, on=quarantine)
        return self._member(joined["me"]["user"], name, owner.tenant, joined["token"])

    def _with_token(self, person, **details):
        secret, hashed = new_secret()
        token = Token(m.new_id(), person.tenant, person.id, "test", hashed, m.utc_now(), **details)
        self.backend.directory.put_token(token)
        return self._member(person.id, person.name, person.tenant, secret)

    def _member(self, user, name, tenant, token):
        client = TeamClient(self.address, token)
        self._clients.append(client)
        return Member(user, name, tenant, token, client)

    def close(self):
        for client in self._clients:
            client.close()
        self.stop()


def join(address, code):
    anyone = TeamClient(address, "")
    try:
        return json.loads(anyone.request("POST", "/api/v1/join", json.dumps({"code": code}).encode()))
    finally:
        anyone.close()


@contextlib.contextmanager
def running(backend, home, embedder, **options):
    team = RunningTeam(backend, home, embedder, **options)
    try:
        yield team
    finally:
        team.close()
