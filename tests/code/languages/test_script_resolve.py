import json

import pytest

from recollect.code.languages.parser import parse
from recollect.code.languages.resolver import MOST_STEPS
from recollect.code.languages.script.resolver import ScriptResolver
from recollect.code.languages.table import language_of
from recollect.code.nodes import RULES

SHOP = {
    "src/base.ts": """
export abstract class Base {
  constructor(protected log: Log) {}
  close() { this.flush(); new Made(1); }
  flush() {}
}
class Made { constructor(size: number) {} }
export class Log { say(text: string) {} child(): Log { return this; } }
""",
    "src/index.ts": """
export * from "./base.js";
export { Client as ShopClient, default as open } from "./client";
export * as wire from "./wire";
""",
    "src/wire.ts": """
export const VERSION = 3;
export function encode(order: Order) { return VERSION; }
export class Order { lines: Line[] = []; total(): Money { return new Money(); } }
export class Line { check() {} }
export class Money { show() {} }
""",
    "src/client.ts": """
import { Base, Log } from "./base";
import * as wire from "./wire";
import got from "got";

export class Client extends Base {
  private order: wire.Order = new wire.Order();

  get last(): wire.Order { return this.order; }

  send(log: Log) {
    super.close();
    this.flush();
    this.log.child().say("sent");
    log.say("again");
    wire.encode(this.order).toString();
    this.last.total().show();
    for (const line of this.order.lines) line.check();
    return got.post("/orders");
  }
}
export default function open(): Promise<Client> { return new Client(new Log()); }
""",
    "app/main.tsx": """
import { ShopClient, open, wire } from "@shop/core";
import { helper } from "~/helper";

async function run() {
  const client = await open();
  client.send();
  const other = new ShopClient();
  other.flush();
  wire.encode();
  helper();
  function local() {}
  local();
}
export const App = () => <Panel on={run} />;
class Panel {}
""",
    "app/lib/helper.js": """
const { Ring } = require("./ring");
module.exports.helper = function helper() { return new Ring().push(); };
""",
    "app/lib/ring.js": """
class Ring { push() { lone.rinse(); } rinse() {} }
module.exports = { Ring };
""",
    "app/voted.ts": """
import { Log } from "@shop/core";
function one(logger: Log) {}
function two(logger: Log) {}
export function three(logger) { logger.child(); }
""",
}
CONFIGS = {
    "package.json": {"workspaces": ["src", "app"]},
    "src/package.json": {"name": "@shop/core", "exports": {".": {"types": "./dist/index.d.ts", "import": "./dist/index.js"}}},
    "app/tsconfig.json": '{ // paths\n "compilerOptions": {"baseUrl": ".", "paths": {"~/*": ["lib/*"],}}}',
}  # fmt: skip


@pytest.fixture
def resolver():
    return resolver_of(SHOP)


def resolver_of(sources):
    configs = {path: text if isinstance(text, str) else json.dumps(text) for path, text in CONFIGS.items()}
    files = {path: parse(language_of(path), source.encode()) for path, source in sources.items()}
    return ScriptResolver(files, lambda path: configs[path].encode() if path in configs else None)


@pytest.mark.parametrize(
    "source, target, rule",
    [
        ("src/base.ts::Base.close", "src/base.ts::Base.flush", "self"),
        ("src/base.ts::Base.close", "src/base.ts::Made.constructor", "scope"),
        ("src/client.ts::Client.send", "src/base.ts::Base.close", "self"),
        ("src/client.ts::Client.send", "src/base.ts::Base.flush", "self"),
        ("src/client.ts::Client.send", "src/base.ts::Log.child", "type"),
        ("src/client.ts::Client.send", "src/base.ts::Log.say", "type"),
        ("src/client.ts::Client.send", "src/wire.ts::encode", "import"),
        ("src/client.ts::Client.send", "src/wire.ts::Order.total", "type"),
        ("src/client.ts::Client.send", "src/wire.ts::Money.show", "type"),
        ("src/client.ts::Client.send", "src/wire.ts::Line.check", "type"),
        ("src/client.ts::Client.send", "external:got.post", "import"),
        ("src/client.ts::open", "src/client.ts::Client", "scope"),
        ("src/client.ts::open", "src/base.ts::Log", "import"),
        ("app/main.tsx::run", "src/client.ts::open", "import"),
        ("app/main.tsx::run", "src/client.ts::Client.send", "type"),
        ("app/main.tsx::run", "src/base.ts::Base.flush", "type"),
        ("app/main.tsx::run", "src/wire.ts::encode", "import"),
        ("app/main.tsx::run", "app/lib/helper.js::helper", "import"),
        ("app/main.tsx::run", "app/main.tsx::run.local", "scope"),
        ("app/main.tsx::App", "app/main.tsx::Panel", "scope"),
        ("app/lib/helper.js::helper", "app/lib/ring.js::Ring.push", "type"),
        ("app/lib/ring.js::Ring.push", "app/lib/ring.js::Ring.rinse", "name"),
        ("app/voted.ts::three", "src/base.ts::Log.child", "vote"),
    ],
)
def test_a_call_leads_to_what_is_called_by_the_rule_that_found_it(resolver, source, target, rule):
    edges = resolver.edges(source.partition("::")[0])

    found = {
        edge.rule for edge in edges if (edge.source, edge.kind, edge.target) == (source, "calls", target)
    }
    assert found == {rule}
    assert rule in RULES


def test_no_other_calls_are_made_up(resolver):
    edges = resolver.edges("app/main.tsx")

    assert {edge.target for edge in edges if edge.kind == "calls"} == {
        "src/client.ts::open",
        "src/client.ts::Client.send",
        "src/client.ts::Client",
        "src/base.ts::Base.flush",
        "src/wire.ts::encode",
        "app/lib/helper.js::helper",
        "app/main.tsx::run.local",
        "app/main.tsx::Panel",
    }


def test_imports_lead_to_files_or_outside(resolver):
    def imports(path):
        return {edge.target for edge in resolver.edges(path) if edge.kind == "imports"}

    assert imports("app/main.tsx") == {"src/index.ts", "app/lib/helper.js"}
    assert imports("src/client.ts") == {"src/base.ts", "src/wire.ts", "external:got"}
    assert imports("src/index.ts") == {"src/base.ts", "src/client.ts", "src/wire.ts"}


def test_bases_and_uses_are_edges_too(resolver):
    edges = {edge[:3] for path in SHOP for edge in resolver.edges(path)}

    assert ("src/client.ts::Client", "inherits", "src/base.ts::Base") in edges
    assert ("src/wire.ts::encode", "uses", "src/wire.ts::VERSION") in edges
    assert ("src/wire.ts::encode", "references", "src/wire.ts::Order") in edges
    assert ("app/main.tsx::App", "references", "app/main.tsx::run") in edges


def test_importers_see_through_what_is_exported_again(resolver):
    assert resolver.importers("src/wire.ts") == {
        "src/client.ts",
        "src/index.ts",
        "app/main.tsx",
        "app/voted.ts",
    }
    assert resolver.importers("app/lib/ring.js") == {"app/lib/helper.js"}


def test_a_changed_file_changes_the_edges_to_it(resolver):
    resolver.update("app/lib/helper.js", parse("javascript", b"exports.helper = () => 1;"))
    after_change = {edge.target for edge in resolver.edges("app/main.tsx")}
    resolver.update("app/lib/helper.js", None)
    after_end = {edge.target for edge in resolver.edges("app/main.tsx")}

    assert "app/lib/helper.js::helper" in after_change
    assert "external:~/helper" in after_end


@pytest.mark.parametrize(
    "source",
    [
        "export * from './a'; export { x } from './a'; import { x } from './a'; x(); x.y();",
        "let a = b, b = a; a.c(); a();",
        "class A extends B {} class B extends A {} new A().go();",
        "const f = () => f(); f().g();",
        "module.exports = require('./a'); exports.b = exports.b; module.exports.b();",
        "type T = T; function g(t: T) { t.x(); }",
        "this.x(); super.y(); (function () { this.z(); })();",
    ],
)
def test_circles_come_to_an_end(source):
    resolver = resolver_of({"a.ts": source})

    assert isinstance(resolver.edges("a.ts"), list)


def test_a_function_that_returns_itself_in_many_places_is_followed_once(monkeypatch):
    """Each place was followed by each other one, twelve deep: the resolver never came to an end."""
    cases = "\n".join(f"    case {number}: return first(node.part{number});" for number in range(12))
    source = f"""
function first(node, test) {{
  switch (node.kind) {{
{cases}
  }}
  return test(node);
}}
function use(node) {{ first(node).show(); }}
"""
    followed = []
    follow = ScriptResolver._follow

    def counted(self, *arguments):
        followed.append(arguments)
        assert len(followed) < 1000
        return follow(self, *arguments)

    monkeypatch.setattr(ScriptResolver, "_follow", counted)
    resolver = ScriptResolver({"a.js": parse("javascript", source.encode())})

    targets = {(edge.source, edge.target) for edge in resolver.edges("a.js")}

    assert ("a.js::use", "a.js::first") in targets


class CountingResolver(ScriptResolver):
    exports = 0

    def _export(self, path, name, depth):
        self.exports += 1
        return super()._export(path, name, depth)


def test_files_that_export_each_other_take_few_steps():
    text = (
        "".join(f"export * from './m{{{number}}}'\n" for number in range(3))
        + "import {{g}} from './m0'\ng()\n"
    )
    files = {
        f"m{number}.js": text.format(*((number + step) % 40 for step in (1, 2, 3))) for number in range(40)
    }
    resolver = CountingResolver({path: parse("javascript", text.encode()) for path, text in files.items()})

    resolver.edges("m0.js")

    assert resolver.exports <= 20 * MOST_STEPS  # three ways at each of twelve steps are half a million


def test_functions_that_return_each_others_results_do_not_stop_a_file():
    count = 60
    functions = "".join(
        f"function f{n}(x) {{ if (x) return f{(n + 1) % count}(x); return f{(n * 7 + 3) % count}(x) }}\n"
        for n in range(count)
    )
    resolver = ScriptResolver({"a.js": parse("javascript", f"{functions}f0(1).go().run()\n".encode())})

    edges = {(edge.source, edge.target) for edge in resolver.edges("a.js")}

    assert {("a.js::f0", "a.js::f1"), ("a.js::f0", "a.js::f3"), ("a.js", "a.js::f0")} <= edges


def test_another_name_of_a_type_does_not_inherit_it():
    source = "interface Till {}\ntype Same = Till\ntype More = Till & { open: boolean }\n"
    files = {"a.ts": parse("typescript", source.encode())}

    edges = {(edge.source, edge.kind) for edge in ScriptResolver(files).edges("a.ts")}

    assert {source for source, kind in edges if kind == "inherits"} == {"a.ts::More"}
    assert ("a.ts::Same", "references") in edges
