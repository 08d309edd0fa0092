"""What stands in code and is nobody's business is in no byte that is kept of it."""

import subprocess
from zlib import error as not_packed

import apsw
import pytest

from recollect.code.facts import Binding, Definition, FileFacts, Import, Reference
from recollect.code.graph.scrub import scrub_secrets
from recollect.code.packing import unpack

AWS = "AKIAIOSFODNN7QZXWVUT"
PASSWORD = "hunter2-very-secret"
JWT = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U"
GITHUB = "ghp_" + "Zx9Qw8Er7Ty6Ui5Op4As3Df2Gh1Jk0Lz9XcV"
SECRETS = (AWS, "hunter2", JWT.rpartition(".")[2], GITHUB)

SOURCES = {
    "a.py": f'''"""Connects with password = "{PASSWORD}" and {AWS}."""
password = "{PASSWORD}"
token: "{JWT}" = "{JWT}"
class Client(Base["{AWS}"], key="{PASSWORD}"):
    """Uses {GITHUB} for it."""
    key = "{AWS}"
    def call(self, a="{PASSWORD}", b: Literal["{AWS}"] = 1) -> Literal["{JWT}"]:
        """password: {PASSWORD}"""
        return send("{AWS}", h=dict(k="{JWT}"))["{PASSWORD}"].then("{GITHUB}")
@app.route("{PASSWORD}", key="{AWS}")
def route(x={{"{JWT}": 1}}): return f"{{x}}{PASSWORD}"
def typed(a: Annotated[str, "{PASSWORD}"], b: "Foo[{GITHUB}]" = 2): pass
__all__ = ["route", "{AWS}"]
''',
    "b.ts": f'''/** Uses password = "{PASSWORD}" and {AWS} */
import x from "{GITHUB}";
import y from "https://user:{PASSWORD}@host/lib";
export const token = "{JWT}";
export type Kind = "{AWS}" | '{PASSWORD}';
/** token {GITHUB} */
export function call(a: "{AWS}" = "{AWS}", b = `{PASSWORD}`): '{JWT}' {{ return send("{GITHUB}")["{PASSWORD}"]; }}
@Component({{ selector: "{PASSWORD}", key: "{AWS}" }})
export class Client extends Base<"{AWS}"> {{ key = "{GITHUB}"; "{AWS}" = 1; private p: "{PASSWORD}" = "{PASSWORD}"; }}
export interface Shape {{ kind: "{PASSWORD}"; "{GITHUB}": string }}
''',
    "c.go": f'''// Package c uses password = "{PASSWORD}" and {AWS}
package c
import "example.com/{GITHUB}/x"
const Token = "{JWT}"
// Call has token {GITHUB}
func Call(a string) string {{ return Send("{AWS}")["{PASSWORD}"] }}
type Shape struct {{ A string `json:"{PASSWORD}"` }}
''',
    "d.yaml": f'password: {PASSWORD}\nkey: "{AWS}"\nlist:\n  - {JWT}\n"{GITHUB}": 1\n',
    "e.toml": f'# password = "{PASSWORD}"\npassword = "{PASSWORD}"\n[table."{AWS}"]\nk = "{JWT}"\n"{GITHUB}" = 1\n',
    "f.json": f'{{"password": "{PASSWORD}", "{AWS}": 1, "a": ["{JWT}", "{GITHUB}"]}}',
    f"key_{AWS}.py": "def kept():\n    pass\n",
    f"{GITHUB}/module.py": "def kept():\n    pass\n",
}


def everything_in(database):
    """All that can be read in it by someone who knows how it is packed."""
    connection = apsw.Connection(str(database))
    tables = [name for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
    told = []
    for table in tables:
        for row in connection.execute(f"SELECT * FROM {table}"):
            for value in row:
                try:
                    told.append(repr(unpack(value)))
                except (TypeError, not_packed):
                    told.append(repr(value))
    connection.close()
    return "\n".join(told)


@pytest.mark.parametrize("path", SOURCES)
def test_no_secret_of_a_file_is_in_the_database(folder, code, database, path):
    (folder / path).parent.mkdir(exist_ok=True)
    (folder / path).write_text(SOURCES[path])
    (folder / "plain.py").write_text("def plain():\n    pass\n")

    code.refresh()
    code.close()

    told = everything_in(database)
    assert "plain" in told
    assert [secret for secret in SECRETS if secret in told] == []


def test_no_secret_in_the_name_of_a_file_of_long_ago_is_in_the_database(folder, code, database):
    def git(*words):
        subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b", *words], cwd=folder, check=True)

    git("init", "-q")
    (folder / f"{AWS}.py").write_text("x = 1\n")
    git("add", ".")
    git("commit", "-qm", f"Add the key {AWS}")
    git("mv", f"{AWS}.py", "plain.py")
    git("commit", "-qm", "Rename it")

    code.relevant("the key")
    code.close()

    told = everything_in(database)
    assert "plain.py" in told
    assert AWS not in told


def test_what_is_not_secret_stays_as_it_is():
    facts = FileFacts(
        "python",
        [Definition("call", "function", 1, 2, signature="(a: int = …) -> Client", doc="Ask the server.")],
        [Import("app.client", "Client")],
        [Reference("self.client.migrate_0001_initial_squashed_0042", "calls", 2)],
        [Binding("client", "Client()", False, 2)],
        ["call"],
        "What asks.",
    )

    assert scrub_secrets(facts) == facts


def test_what_is_a_lifetime_and_no_literal_stays():
    get = Definition("get", "function", 1, 2, signature="(a: &'a str) -> &'a str")

    assert scrub_secrets(FileFacts("rust", [get])).definitions == [get]


def test_a_secret_is_found_beside_what_was_searched_before():
    doc = Definition("call", "function", 1, 2, doc="Ask with a token.")
    before = scrub_secrets(FileFacts("python", [doc], doc=f"Uses {GITHUB}."))

    facts = scrub_secrets(
        FileFacts("python", [doc, doc._replace(doc=f"Uses {AWS}.")], doc=f"Uses {GITHUB}."), before
    )

    assert GITHUB not in facts.doc
    assert [definition.doc for definition in facts.definitions] == [
        doc.doc,
        "Uses [REDACTED: aws-key].",
    ]


def test_a_definition_that_is_called_like_a_secret_keeps_its_place():
    inner = Definition("inner", "function", 2, 2, scope=0)
    facts = FileFacts("json", [Definition(AWS, "variable", 1, 2), inner])

    outer, kept = scrub_secrets(facts).definitions

    assert AWS not in outer.name
    assert kept == inner


@pytest.mark.parametrize(
    "secret, doc",
    [
        ("hunter2-very-secret", 'Connects with password = "hunter2-very-secret".'),
        ("AKCabcdefghijklm", "Fetched with (AKCabcdefghijklm)."),
        ("4711", "Its Pin: 4711"),
        ("s3cretpw", "Reads postgres://shop:s3cretpw@db.shop.example/till"),
        ("ada@corner-shop.net", "Ask ada@corner-shop.net."),
    ],
)
def test_a_secret_is_found_by_what_stands_beside_it_or_by_its_looks(secret, doc):
    facts = scrub_secrets(FileFacts("python", [Definition("call", "function", 1, 2, doc=doc)], doc=doc))

    assert secret not in facts.doc
    assert secret not in facts.definitions[0].doc
