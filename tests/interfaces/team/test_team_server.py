"""What the team server refuses, bounds and forgets, whoever asks."""

import datetime
import http.client
import ipaddress
import json
import socket
import ssl
import threading
import time

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

import recollect.model as m
from fakes import FakeEmbedder
from recollect.errors import BadSetting, Offline, OutOfScope, Refused, TokenRefused, TooManyRequests
from recollect.interfaces.team.limits import LARGEST_BODY, RateLimiter, Rates
from recollect.interfaces.team.server import Listening, TeamServer, build
from recollect.interfaces.team.tokens import KNOWN_SECONDS, REFUSED_SECOND, Verifier
from recollect.model.team import Identity, Role
from recollect.remote.client import TeamClient
from recollect.remote.secrets import hash_of
from team_server import FAST, SHOP, join, running

ADA, BEN = (Identity("shop", name, name, Role.MEMBER) for name in ("ada", "ben"))


def request(team, body, token="", path="/api/v1/remember", headers=()):
    """Send bytes; return the status and the error."""
    connection = http.client.HTTPConnection("127.0.0.1", team.server.port, timeout=10)
    try:
        connection.request("POST", path, body, {"authorization": f"Bearer {token}", **dict(headers)})
        answer = connection.getresponse()
        return answer, json.loads(answer.read())
    finally:
        connection.close()


class TestLimits:
    def test_a_person_who_asks_too_often_is_refused_and_the_others_are_not(self, home, postgres_team):
        slow = Rates(person=0.0001, writes=0, tenant=0, joins=0, burst=80_000)  # eight requests
        with running(postgres_team, home, FakeEmbedder(), rates=slow) as team:
            ada, eve = team.new_team(), team.new_team("Bank", "Eve")

            with pytest.raises(TooManyRequests, match="too many"):
                for _ in range(9):
                    ada.call("count")
            answer, value = request(team, b'{"arguments": {}}', ada.token, "/api/v1/count")

            assert (answer.status, answer.headers["retry-after"]) == (429, "1")
            assert value["error"]["type"] == "TooManyRequests"
            assert eve.call("count") == 0

    def test_guesses_of_invitation_codes_are_limited(self, home, postgres_team):
        slow = Rates(person=0, writes=0, tenant=0, joins=0.0001, burst=30_000)
        with running(postgres_team, home, FakeEmbedder(), rates=slow) as team:
            for _ in range(3):
                with pytest.raises(TokenRefused):
                    join(team.address, "rci_guess")
            with pytest.raises(TooManyRequests):
                join(team.address, "rci_guess")

    def test_buckets_are_those_of_a_person_of_their_writes_and_of_the_team_and_fill_again(self):
        now = [0.0]
        limiter = RateLimiter(Rates(person=2, writes=1, tenant=3, burst=1), lambda: now[0])

        limiter.check(ADA, is_write=True)
        with pytest.raises(TooManyRequests, match="You have"):
            limiter.check(ADA, is_write=True)
        limiter.check(BEN, is_write=False)
        with pytest.raises(TooManyRequests, match="The team has"):
            limiter.check(BEN, is_write=False)
        now[0] = 1.0
        limiter.check(ADA, is_write=True)

    def test_a_body_that_is_too_large_is_not_read_to_its_end(self, team):
        ada = team.new_team()
        with socket.create_connection(("127.0.0.1", team.server.port), timeout=10) as raw:
            head = f"POST /api/v1/remember HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {ada.token}\r\n"
            raw.sendall(f"{head}content-length: {100 * LARGEST_BODY}\r\n\r\n".encode())
            raw.sendall(b"x" * (LARGEST_BODY + 1))

            assert raw.recv(100).startswith(b"HTTP/1.1 413 ")

    def test_a_body_that_is_no_json_or_has_other_fields_is_refused(self, team):
        ada = team.new_team()

        for body in (b"", b"[]", b"\xff", b'{"arguments": {}, "tenant": "x"}', b'{"arguments": {"a": 1}}'):
            assert request(team, body, ada.token)[0].status == 422
        assert request(team, b"{}", ada.token, "/api/v1/nothing")[0].status == 404


class TestTransport:
    def test_without_tls_it_listens_on_this_machine_only(self, home, postgres_team):
        app = build(postgres_team, None, FakeEmbedder())

        for host in ("0.0.0.0", "::", "192.0.2.1", "memory.example.com"):
            with pytest.raises(BadSetting, match="on this machine only"):
                TeamServer(app, Listening(host, 0))
        Listening("0.0.0.0", behind_proxy=True).check()
        with pytest.raises(BadSetting, match="needs a certificate and its key"):
            Listening("0.0.0.0", certificate=home / "cert.pem").check()

    def test_a_client_sends_no_token_over_an_unencrypted_network(self):
        with pytest.raises(BadSetting, match="unencrypted"):
            TeamClient("http://memory.example.com", "rct_x")

    def test_with_a_certificate_it_speaks_tls_and_a_client_checks_who_it_is(
        self, home, postgres_team, tmp_path, monkeypatch
    ):
        certificate, key = self_signed(tmp_path)
        app = build(postgres_team, None, FakeEmbedder(), FAST)
        server = TeamServer(app, Listening("127.0.0.1", 0, certificate, key))
        thread = threading.Thread(target=server.run, daemon=True)
        thread.start()
        while not server.started:
            time.sleep(0.002)
        stranger = TeamClient(server.address, "")
        with pytest.raises(Offline):
            stranger.request("GET", "/health")
        monkeypatch.setattr(
            ssl, "create_default_context", lambda make=ssl.create_default_context: make(cafile=certificate)
        )
        client = TeamClient(server.address, "")

        assert server.address.startswith("https://")
        assert json.loads(client.request("GET", "/health"))["status"] == "ok"

        client.close()
        server.stop()
        thread.join(10)


def self_signed(folder):
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "127.0.0.1")])
    now = datetime.datetime.now(datetime.UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(
            x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]), False
        )
        .sign(key, hashes.SHA256())
    )
    pem = serialization.Encoding.PEM
    (folder / "cert.pem").write_bytes(certificate.public_bytes(pem))
    (folder / "key.pem").write_bytes(
        key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    return folder / "cert.pem", folder / "key.pem"


class AskedDirectory:
    """Notes for which tokens the directory is asked."""

    def __init__(self, directory, asked):
        self._directory, self._asked = directory, asked

    def identify(self, hashed, at):
        self._asked.append(hashed)
        return self._directory.identify(hashed, at)

    def touch(self, *arguments):
        self._directory.touch(*arguments)


class TestTokens:
    def test_a_token_that_another_server_has_revoked_ends_within_a_minute(self, team):
        ada = team.new_team()
        now = [0.0]
        here = Verifier(team.backend.directory, m.utc_now, lambda: now[0])
        header = f"Bearer {ada.token}"
        assert here.identify(header).user == ada.id

        (token,) = team.backend.directory.tokens(ada.tenant)
        team.backend.directory.revoke(ada.tenant, token.id, m.utc_now())
        now[0] = KNOWN_SECONDS

        assert KNOWN_SECONDS <= 60
        with pytest.raises(TokenRefused):
            here.identify(header)

    def test_the_token_of_somebody_who_was_removed_is_refused(self, team):
        ada = team.new_team()
        ben = team.add(ada, "Ben", Role.MEMBER)
        now = [0.0]
        here = Verifier(team.backend.directory, m.utc_now, lambda: now[0])
        header = f"Bearer {ben.token}"
        assert here.identify(header).user == ben.id

        ada.call("remove_member", person="Ben")
        now[0] = KNOWN_SECONDS

        with pytest.raises(TokenRefused):
            here.identify(header)
        with pytest.raises(TokenRefused):
            ben.call("count")

    def test_whoever_tries_many_tokens_costs_no_more_queries_and_holds_up_nobody(self, team):
        ada = team.new_team()
        now, asked = [0.0], []
        directory = AskedDirectory(team.backend.directory, asked)
        here = Verifier(directory, m.utc_now, lambda: now[0])
        here.identify(f"Bearer {ada.token}")

        for number in range(1000):
            with pytest.raises((TokenRefused, TooManyRequests)):
                here.identify(f"Bearer rct_{number:043}")

        assert len(asked) == 1 + 10 * REFUSED_SECOND
        here.forget()  # somebody has left: everybody is asked for again
        assert here.identify(f"Bearer {ada.token}").user == ada.id
        now[0] = 1.0
        with pytest.raises(TokenRefused):
            here.identify(f"Bearer rct_{0:043}")

    def test_a_narrowed_token_makes_none_that_is_wider_or_lives_longer(self, team):
        ada = team.new_team()
        ada.call("remember", content="Shop rule", visibility="team")
        (shop,) = ada.call("projects")
        issued = ada.call("create_token", name="ci", actions=["read", "write"], projects=[shop.id], days=2)
        narrow = TeamClient(team.address, issued.secret)

        child = narrow.call("create_token", {"name": "child", "projects": ["p1", shop.id]}, SHOP)

        assert (child.projects, child.actions) == ((shop.id,), ("read", "write"))
        assert child.expires_at == issued.expires_at
        with pytest.raises(OutOfScope):
            narrow.call("create_token", {"name": "child", "actions": ["admin"]}, SHOP)
        assert [project.id for project in narrow.call("projects", {}, SHOP)] == [shop.id]
        narrow.close()

    def test_the_token_of_an_agent_makes_no_tokens_and_revokes_only_itself(self, team):
        ada = team.new_team()
        issued = ada.call("create_token", name="ci", agent="ci")
        robot = TeamClient(team.address, issued.secret)
        (*_, own) = ada.call("tokens")

        for operation, arguments in (
            ("create_token", {"name": "mine"}),
            ("revoke_token", {"token": own.id}),
            ("tokens", {"everybody": True}),
        ):
            with pytest.raises(OutOfScope):
                robot.call(operation, arguments)
        robot.call("revoke_token", {"token": issued.id})
        with pytest.raises(TokenRefused):
            robot.call("count", {})
        robot.close()

    def test_the_last_owner_cannot_leave_step_down_or_be_removed(self, team):
        ada = team.new_team()
        ben = team.add(ada, "Ben", Role.ADMIN)

        for operation, arguments in (
            ("leave", {}),
            ("remove_member", {"person": "Ada"}),
            ("set_role", {"person": "Ada", "role": "member"}),
            ("erase_me", {"confirm": "Ada"}),
        ):
            with pytest.raises(Refused, match="last owner"):
                ada.call(operation, **arguments)
        with pytest.raises(OutOfScope):
            ben.call("set_role", person="Ben", role="owner")
        assert ada.call("whoami").role is Role.OWNER


def test_a_member_reads_their_own_audit_lines_and_an_admin_all(team):
    ada = team.new_team()
    ben = team.add(ada, "Ben")
    first = ada.call("remember", content="Deploys run on Fridays", visibility="team")
    second = ben.call("remember", content="The vault opens at nine", visibility="team")

    assert [line.memory_id for line in ben.call("audit")] == [second.id]
    assert [line.memory_id for line in ada.call("audit")] == [second.id, first.id]


class TestOnce:
    def test_a_write_whose_answer_was_cut_off_is_written_once_when_it_is_sent_again(self, team):
        ada = team.new_team()
        arguments = {"content": "Deploys run on Fridays"}
        body = m.dumps({"place": SHOP, "arguments": arguments}).encode()
        head = (
            f"POST /api/v1/remember HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {ada.token}\r\n"
            f"idempotency-key: k1\r\ncontent-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n"
        )
        for sent in (len(body) // 2, len(body), len(body)):
            with socket.create_connection(("127.0.0.1", team.server.port), timeout=10) as raw:
                raw.sendall(head.encode() + body[:sent])  # and nobody waits for the answer

        receipt = ada.call("remember", **arguments, key="k1")

        assert [memory.strength for memory in ada.call("list")] == [1]
        assert ada.call("get", name=receipt.id).content == "Deploys run on Fridays"

    def test_the_key_of_another_person_gives_nothing_away(self, team):
        ada = team.new_team()
        ben = team.add(ada, "Ben")
        first = ada.call("remember", content="I dislike the payment service", key="k1")

        second = ben.call("remember", content="I dislike the payment service", key="k1")

        assert second.id != first.id
        assert (second.is_duplicate, second.conflicts_with, second.supersedes) == (False, (), ())


def test_erasing_oneself_deletes_what_one_wrote_and_keeps_the_audit_chain(team):
    ada = team.new_team()
    ben = team.add(ada, "Ben")
    mine = ben.call("remember", content="The vault opens at nine", visibility="team")
    ada.call("remember", content="Deploys run on Fridays", visibility="team")

    with pytest.raises(Refused, match="confirmation"):
        ben.call("erase_me", confirm="Benjamin")
    erased = ben.call("erase_me", confirm="Ben", at_once=True)

    assert erased.rows["memories"] == 1
    with pytest.raises(TokenRefused):
        ben.call("whoami")
    assert team.backend.directory.identify(hash_of(ben.token), m.utc_now()) is None
    assert [memory.content for memory in ada.call("list")] == ["Deploys run on Fridays"]
    assert ada.call("search", query="when does the vault open").results == ()
    assert [person.name for person in ada.call("members")] == ["Ada"]
    lines = ada.call("audit")
    assert mine.id in {line.memory_id for line in lines}
    assert "Ben" not in str(lines) and "vault" not in str(lines)
    store = team.backend.store(Identity(ada.tenant, ada.id, "Ada", Role.OWNER))
    assert store.verify_audit().problem is None
