"""The memory browser of a team server: everybody reads and changes what they may, and nothing else."""

import hashlib
import hmac
import http.client
import json
import re
from dataclasses import dataclass, replace
from urllib.parse import urlencode, urlsplit

import pytest
from click.testing import CliRunner
from playwright.sync_api import expect
from test_web_accessible import problems

import recollect.model as m
from fakes import FakeEmbedder
from recollect.__main__ import main
from recollect.interfaces.team.browser import COOKIE
from recollect.model.team import Identity, Role
from team_server import FAST, running


@pytest.fixture
def site(home, postgres_team):
    """A team server, without anybody in it."""
    with running(postgres_team, home, FakeEmbedder()) as team:
        yield team


@dataclass
class Browser:
    """A browser without a screen, of one person."""

    address: str
    cookie: str = ""
    location: str = ""  # where the last answer sent it

    def send(self, method, path, fields=None):
        """Return the status and the text of the answer."""
        parts = urlsplit(self.address)
        connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=20)
        headers = {"Origin": self.address, "Cookie": f"{COOKIE}={self.cookie}"}
        try:
            connection.request(method, path, urlencode(fields, doseq=True) if fields else None, headers)
            answer = connection.getresponse()
            if found := re.match(
                rf"{COOKIE}=([^;]+);.*HttpOnly;.*SameSite=strict", answer.getheader("set-cookie") or ""
            ):
                self.cookie = found[1]
            self.location = answer.getheader("location") or ""
            return answer.status, answer.read().decode()
        finally:
            connection.close()

    def log_in(self, secret):
        return self.send("POST", "/login", {"token": secret})

    def read(self, path):
        status, text = self.send("GET", path)
        assert status == 200, text
        return text

    def post(self, path, **fields):
        """Send a form as the page has it; return the status and the page that it leads to."""
        csrf = re.search(r'name="csrf" value="(\w+)"', self.read("/"))[1]
        return self.send("POST", path, {"csrf": csrf, "next": "/memories", **fields})


@pytest.fixture
def browse(site):
    def open_browser(member):
        browser = Browser(site.address)
        assert browser.log_in(member.token)[0] == 200
        return browser

    return open_browser


@pytest.fixture
def ada(site):
    return site.new_team()


@pytest.fixture
def ben(site, ada):
    return site.add(ada, "Ben")


def test_somebody_is_invited_logs_in_and_reads_what_is_shared(new_page, site, ada):
    ada.call("remember", content="Tests need a running Redis", visibility="project")
    ada.call("remember", content="My diary is elsewhere")
    page = new_page(login=False)
    page.goto("/")
    page.get_by_label("Or paste a token of yours").fill(ada.token)
    page.get_by_role("button", name="Log in").click()
    page.get_by_role("link", name="Team", exact=True).click()
    page.get_by_label("Name", exact=True).fill("Ben")
    page.get_by_role("button", name="Invite", exact=True).click()
    code = page.locator("#code").inner_text().strip()

    other = new_page(login=False)
    other.goto(f"/login#{code}")
    expect(other.get_by_role("heading", level=1)).to_have_text("All projects")
    other.get_by_role("link", name="Memories", exact=True).click()
    expect(other.locator(".row")).to_have_count(1)
    expect(other.locator(".row")).to_contain_text("Tests need a running Redis")
    expect(other.locator(".row")).to_contain_text("stated by Ada")
    expect(other.locator(".who")).to_have_text("Ben · member")

    ada.call("remember", content="Prices are in cents", visibility="project")
    expect(other.locator(".row")).to_have_count(2)


def test_an_open_page_says_that_the_server_is_away_until_it_is_back(new_page, site, ada):
    page = new_page(login=False)
    page.goto("/")
    page.get_by_label("Or paste a token of yours").fill(ada.token)
    page.get_by_role("button", name="Log in").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("All projects")
    away = page.locator("#notices").get_by_text("Memory unavailable: offline")

    site.stop()
    expect(away).to_be_visible(timeout=60_000)

    site.start()
    expect(away).to_be_hidden(timeout=60_000)


def test_a_login_needs_a_valid_token_of_a_person(site, ada):
    nobody = Browser(site.address)

    assert nobody.send("GET", "/memories")[0] == 401
    assert nobody.log_in("rct_wrong")[0] == 403
    assert nobody.log_in("rci_wrong")[0] == 403
    agent = ada.call("create_token", name="ci", agent="claude").secret
    assert nobody.log_in(agent)[0] == 403
    assert nobody.cookie == ""


def test_the_interface_answers_programs_and_not_with_pages(site, ada, browse):
    browser = browse(ada)

    assert browser.send("GET", "/api/v1/search") == browser.send("GET", "/api/v1/a/b")
    assert json.loads(browser.send("GET", "/api/v1/search")[1])["error"]


def test_the_browser_has_a_token_of_its_own_that_ends_with_the_logout(site, ada, browse):
    mine, second = browse(ada), browse(ada)
    assert mine.cookie not in (ada.token, second.cookie)

    assert mine.post("/logout")[0] == 200

    assert mine.send("GET", "/")[0] == 401
    assert second.send("GET", "/")[0] == 200


def test_the_command_makes_a_link_that_logs_one_browser_in_once(site, ada, tmp_path):
    home = tmp_path / "ada"
    home.mkdir(mode=0o700)
    assert run(home, "login", site.address, "--token", ada.token, "--yes")

    link = json.loads(run(home, "web", "--json"))["link"]

    address, _, secret = link.partition("/login#")
    assert address == site.address
    first, second = Browser(site.address), Browser(site.address)
    assert first.log_in(secret)[0] == 200
    assert "Ada · owner" in first.read("/")
    assert second.log_in(secret)[0] == 403


def run(home, *arguments):
    with CliRunner().isolation() as (out, err, _):
        code = main([*arguments, "--home", str(home)])
        assert code == 0, err.getvalue()
        return out.getvalue().decode()


def test_a_private_memory_of_somebody_else_is_nowhere(site, ada, ben, browse):
    secret = ada.call("remember", content="The vault opens at nine").id
    ada.call("remember", content="Tests need a running Redis", visibility="project")
    project = ada.call("projects")[0].id
    browser = browse(ben)

    for path in ("/", "/memories", "/memories?q=vault", "/graph", "/changes", "/review", "/records"):
        for chosen in ("all", project):
            assert "vault" not in browser.read(f"{path}{'&' if '?' in path else '?'}p={chosen}").replace(
                "q=vault", ""
            ).replace('value="vault"', ""), path
    assert browser.send("GET", f"/memories/{secret}")[0] == 404
    assert browser.send("GET", f"/memories/{secret}/similar")[0] == 404
    assert browser.post(f"/memories/{secret}/forget")[0] == 303
    assert ada.call("get", name=secret).state == "active"


def test_a_member_changes_their_own_memories_and_not_those_of_others(site, ada, ben, browse):
    hers = ada.call("remember", content="Tests need a running Redis", visibility="project").id
    his = ben.call("remember", content="Prices are in cents", visibility="project").id
    browser = browse(ben)

    browser.post(f"/memories/{his}/forget")
    browser.post(f"/memories/{hers}/forget")

    assert ben.call("get", name=his).state == "deleted"
    assert ada.call("get", name=hers).state == "active"


def test_a_reader_changes_nothing(site, ada, browse):
    eve = site.add(ada, "Eve", Role.READER)
    name = ada.call("remember", content="Tests need a running Redis", visibility="project").id
    browser = browse(eve)

    assert "Tests need a running Redis" in browser.read("/memories?p=all")
    assert browser.post(f"/memories/{name}/pin", on="1") == (403, "Refused: a reader changes nothing.\n")
    assert browser.post("/tokens/new", name="x")[0] == 403
    assert not ada.call("get", name=name).pinned


def test_a_reader_hides_what_they_do_not_need_and_erases_themselves(site, ada, browse):
    eve = site.add(ada, "Eve", Role.READER)
    name = ada.call("remember", content="Tests need a running Redis", visibility="project").id
    browser = browse(eve)

    browser.post(f"/memories/{name}/hide", on="1")
    assert "Tests need a running Redis" not in browser.read("/memories?p=all")
    _, page = browser.post("/data/erase", confirm="Eve", at_once="1")

    assert "Everything of yours was erased." in page
    assert [person.name for person in ada.call("members")] == ["Ada"]


def test_changes_in_the_browser_count_for_the_day(home, postgres_team):
    with running(postgres_team, home, FakeEmbedder(), rates=replace(FAST, person_day=2)) as team:
        ada = team.new_team()
        said = ada.call("remember", content="Deploys run on Fridays", visibility="project")
        browser = Browser(team.address)
        browser.log_in(ada.token)

        browser.post(f"/memories/{said.id}/pin", on="1")
        browser.post(f"/memories/{said.id}/pin", on="0")

        assert "You have reached the limit of 2 writes a day" in browser.read(browser.location)
        assert ada.call("get", name=said.id).pinned


def test_somebody_who_no_longer_agrees_stores_nothing_in_the_browser_and_can_still_remove(site, ada, browse):
    said = ada.call("remember", content="Deploys run on Fridays", visibility="project")
    browser = browse(ada)
    ada.call("consent", what="server", on=True)
    ada.call("consent", what="server", on=False)

    browser.post("/memories/new", content="Prices are in cents", kind="fact")

    assert "You no longer agree that the server stores what is yours." in browser.read(browser.location)
    assert not ada.call("search", query="prices").results
    browser.post(f"/memories/{said.id}/forget")
    assert ada.call("get", name=said.id).state == "deleted"


def test_the_token_of_an_agent_is_no_login_however_it_comes(site, ada):
    said = ada.call("remember", content="Deploys run on Fridays", visibility="project")
    for limits in ({"agent": "ci"}, {"projects": [ada.call("projects")[0].id]}, {"actions": ["write"]}):
        token = ada.call("create_token", name="x", **limits).secret
        agent = Browser(site.address, cookie=token)
        csrf = hmac.new(token.encode(), b"forms", hashlib.sha256).hexdigest()

        assert agent.send("GET", f"/memories/{said.id}")[0] == 401
        assert (
            agent.send("POST", f"/memories/{said.id}/forget", {"csrf": csrf, "next": "/memories"})[0] == 401
        )
        assert agent.send("GET", "/events")[0] == 401

    assert ada.call("get", name=said.id).state == "active"


def test_a_token_that_only_reads_changes_nothing(site, ada):
    said = ada.call("remember", content="Deploys run on Fridays", visibility="project")
    browser = Browser(site.address)
    browser.log_in(ada.call("create_token", name="x", actions=["read"]).secret)

    assert "Deploys run on Fridays" in browser.read(f"/memories/{said.id}")
    assert browser.post(f"/memories/{said.id}/forget")[0] == 403

    assert ada.call("get", name=said.id).state == "active"


def test_two_teams_see_nothing_of_each_other(site, ada, browse):
    eve = site.new_team("Bank", "Eve")
    name = ada.call("remember", content="The vault opens at nine", visibility="team").id
    project = ada.call("projects")[0].id
    browser = browse(eve)

    assert "vault" not in browser.read("/memories?p=all")
    assert "vault" not in browser.read(f"/memories?p={project}")
    assert browser.send("GET", f"/memories/{name}")[0] == 404
    assert "Ada" not in browser.read("/team")
    assert "Ada" not in browser.read("/tokens?everybody=1")


def test_an_admin_manages_people_and_a_member_cannot(site, ada, ben, browse):
    admin, member = browse(ada), browse(ben)
    assert "Invite somebody" in admin.read("/team")
    assert "Invite somebody" not in member.read("/team")

    for path, fields in {
        "/team/invite": {"name": "Eve"},
        "/team/role": {"person": ben.id, "role": "owner", "sure": "1"},
        "/team/remove": {"person": ada.id, "sure": "1"},
        "/team/flag": {"person": ada.id, "on": "1"},
    }.items():
        assert member.post(path, **fields)[0] == 303, path
    assert {person.name: person.role for person in ada.call("members")} == {"Ada": "owner", "Ben": "member"}

    assert "Make Ben admin?" in admin.post("/team/role", person=ben.id, role="admin")[1]
    admin.post("/team/role", person=ben.id, role="admin", sure="1")
    assert {person.name: person.role for person in ada.call("members")} == {"Ada": "owner", "Ben": "admin"}
    admin.post("/team/flag", person=ben.id, on="1")
    assert "waits for a review" in admin.read("/team")
    admin.post("/team/remove", person=ben.id, sure="1")
    assert member.send("GET", "/")[0] == 401


def test_an_admin_withdraws_an_invitation_and_a_member_cannot(site, ada, ben, browse):
    invite = ada.call("invite", name="Eve").id

    browse(ben).post("/team/withdraw", invite=invite)
    assert "Eve" in browse(ada).read("/team")
    browse(ada).post("/team/withdraw", invite=invite)

    assert "Eve" not in browse(ada).read("/team")


def test_a_project_is_shown_to_chosen_people_only(site, ada, ben, browse):
    ada.call("remember", content="Tests need a running Redis", visibility="project")
    project = ada.call("projects")[0].id
    admin, member = browse(ada), browse(ben)
    assert "Redis" in member.read(f"/memories?p={project}")

    admin.post("/team/project", project=project, person=[ada.id])

    assert "Redis" not in member.read(f"/memories?p={project}")
    assert "Redis" not in member.read("/memories?p=all")
    admin.post("/team/project", project=project, everybody="1")
    assert "Redis" in member.read(f"/memories?p={project}")


def test_a_token_is_shown_once_and_revoked(site, ada, browse):
    browser = browse(ada)

    _, page = browser.post("/tokens/new", name="laptop", action=["read"], days="7")

    secret = re.search(r"rct_[\w-]+", page)[0]
    other = Browser(site.address)
    assert other.log_in(secret)[0] == 200
    assert secret not in browser.read("/tokens")
    token = next(token for token in ada.call("tokens") if token.name == "laptop")
    assert token.actions == ("read",)
    assert "Revoke this token?" in browser.post("/tokens/revoke", token=token.id)[1]
    browser.post("/tokens/revoke", token=token.id, sure="1")
    assert Browser(site.address).log_in(secret)[0] == 403


def test_a_person_exports_and_erases_what_is_theirs(site, ada, ben, browse):
    ben.call("remember", content="Prices are in cents", visibility="project")
    ben.call("remember", content="Read \u202ethis\u202c backwards")
    browser = browse(ben)
    exported = browser.read("/data/export.json")
    assert "Prices are in cents" in exported
    assert r"Read \u202ethis\u202c backwards" in exported

    browser.post("/data/erase", confirm="somebody else", at_once="1")
    assert "Prices are in cents" in browse(ada).read("/memories?p=all")
    _, page = browser.post("/data/erase", confirm="Ben", at_once="1")

    assert "Everything of yours was erased." in page
    assert "Prices are in cents" not in browse(ada).read("/memories?p=all")
    assert browser.send("GET", "/")[0] == 401


def test_an_erasure_waits_thirty_days_and_is_taken_back(site, ada, ben, browse):
    browser = browse(ben)
    browser.post("/data/erase", confirm="Ben")
    assert "Everything of yours is erased on " in browser.read("/data")
    assert "Erasures in the team" in browse(ada).read("/data")

    browser.post("/data/keep")

    assert "Everything of yours is erased on " not in browser.read("/data")


def test_what_a_person_hides_is_in_no_list_of_theirs_and_comes_back(new_page, site, ada, ben, browse):
    hidden = ben.call("remember", content="Prices are in cents", visibility="project").id
    ben.call("remember", content="Tests need a running Redis", visibility="project")
    page = new_page(login=False)
    page.goto("/login")
    page.goto(f"/login#{ada.token}")
    page.reload()
    expect(page.get_by_role("heading", level=1)).to_have_text("All projects")

    page.goto(f"/memories/{hidden}")
    page.get_by_role("button", name="Hide it for me").click()

    expect(page.locator(".notice")).to_contain_text("Hidden for you and your agents. Others still see it.")
    browser = browse(ada)
    for path in ("/?p=all", "/memories?p=all", "/memories?p=all&q=prices+in+cents"):
        assert "Prices are in cents" not in browser.read(path)
        assert "Prices are in cents" in browse(ben).read(path)
    page.goto("/memories?p=all")
    page.get_by_role("link", name="hidden by you").click()
    page.get_by_role("link", name="Prices are in cents").click()
    page.get_by_role("button", name="Show it to me again").press("Enter")
    expect(page.locator(".notice")).to_contain_text("Shown again.")
    assert "Prices are in cents" in browser.read("/memories?p=all")


def search_in_vain(site, person, question):
    """A search that finds nothing, as the server notes it."""
    store = site.backend.store(Identity(person.tenant, person.id, person.name, Role.MEMBER))
    store.put_gap(m.Gap(m.new_id(), None, question, m.utc_now()))
    store.close()


def test_analytics_show_shared_gotchas_and_only_what_five_people_asked(site, ada, ben, browse):
    ada.call("remember", content="Redis must run before the tests", kind="gotcha", visibility="project")
    ada.call("remember", content="My own trap", kind="gotcha", visibility="private")
    people = [ada, ben, *(site.add(ada, name) for name in ("Cem", "Dia", "Eva"))]
    for person in people[1:]:
        search_in_vain(site, person, "Where is the staging password")
    browser = browse(ben)

    page = browser.read("/analytics")

    assert "Redis must run before the tests" in page
    assert "My own trap" not in page
    assert "Fewer than 5 people searched in vain" in page
    assert "password" not in page
    search_in_vain(site, ada, "Where is the staging password")
    assert "Where is the staging password" in browser.read("/analytics")


def test_sync_shows_devices_and_what_was_moved_here(site, ada, ben, browse):
    record = {"id": "1m4q7kdygzdqgv0wfm", "content": "Moved from a laptop", "kind": "fact"}
    ben.call("adopt", records=[record])

    page = browse(ben).read("/sync")

    assert "up to date" in page
    assert "Imported 1 memory" in page
    assert "Imported" not in browse(ada).read("/sync")
    assert "everybody's" in browse(ada).read("/sync")
    assert "everybody's" not in page
    assert ada.name in browse(ada).read("/sync?everybody=1")


def test_another_site_and_another_name_are_refused(site, ada, browse):
    browser = browse(ada)
    parts = urlsplit(site.address)
    for headers in ({"Host": "evil.example"}, {"Origin": "https://evil.example"}):
        connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=20)
        connection.request(
            "POST", "/team/invite", "name=Eve", {"Cookie": f"{COOKIE}={browser.cookie}", **headers}
        )
        assert connection.getresponse().status in (403, 421)
        connection.close()
    assert browser.send("POST", "/team/invite", {"name": "Eve", "csrf": "guessed"})[0] == 403


def test_no_page_of_a_team_has_a_violation(new_page, site, ada, ben):
    ada.call("remember", content="Tests need a running Redis", visibility="project")
    page = new_page(login=False)
    page.goto("/login")
    found = {"/login": problems(page, "/login")}
    page.goto(f"/login#{ada.token}")
    page.reload()  # what follows "#" alone loads nothing
    expect(page.get_by_role("heading", level=1)).to_have_text("All projects")

    found |= {
        path: problems(page, path)
        for path in ("/team", "/tokens?everybody=1", "/analytics", "/sync", "/data")
    }

    assert {path: wrong for path, wrong in found.items() if wrong} == {}
