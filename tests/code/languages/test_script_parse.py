import pytest

from recollect.code.facts import FILE, Import
from recollect.code.languages.parser import parse

CLIENT = b"""\
/** Talks to the shop's server. */

import axios, { type AxiosInstance } from "axios";
import * as errors from "./errors.js";
import { Cache as Store } from "./cache";
export { retry as again } from "./retry";
export * from "./types";

const BASE = "https://user:hunter2@shop.example";

/**
 * What every client can do.
 * @internal
 */
export interface Client extends Closable {
  name: string;
  get(path: string): Promise<Order>;
}

export type Options = Partial<Client> & { deep: boolean };

export enum Level { Low, High }

export namespace wire {
  export function encode(order: Order): string { return JSON.stringify(order); }
}

// Keeps orders for a while.
@injectable({ scope: "app" })
export class CachedClient extends BaseClient<Order> implements Client {
  private readonly store: Store = new Store();
  #token = "hunter2";
  name = "cached";

  constructor(private http: AxiosInstance, level = Level.Low) {
    super();
    this.started = clock.now();
  }

  /** Ask once, then remember. */
  async get(path: string, { deep = false, retries: times }: Options = {}): Promise<Order> {
    const found = await this.store.read(path);
    if (found) return found;
    const { data } = await this.http.get(BASE + path);
    for (const line of data.lines) line.check();
    return new Order(data);
  }

  get size(): number { return this.store.size; }

  private drop = (key: string) => this.store.remove(key);
}

export const connect = (url: string): CachedClient => new CachedClient(axios.create({ url }));

export const handlers = {
  open() { return connect(BASE); },
  close: async function (client: Client) { client.drop(); },
};

export default function main(): void {
  items.map((item: Order) => item.print());
}
"""


def test_definitions_of_typescript_have_their_scope_signature_and_doc():
    facts = parse("typescript", CLIENT)

    found = {
        (name_of(facts, number), found.kind, found.signature)
        for number, found in enumerate(facts.definitions)
    }
    assert found == {
        ("BASE", "variable", ""),
        ("Client", "class", ""),
        ("Client.name", "variable", ": string"),
        ("Client.get", "function", "(path: string): Promise<Order>"),
        ("Options", "class", ""),
        ("Level", "class", ""),
        ("wire", "class", ""),
        ("wire.encode", "function", "(order: Order): string"),
        ("CachedClient", "class", ""),
        ("CachedClient.store", "variable", ": Store"),
        ("CachedClient.#token", "variable", ""),
        ("CachedClient.name", "variable", ""),
        ("CachedClient.constructor", "function", "(http: AxiosInstance, level=…)"),
        ("CachedClient.get", "function", "(path: string, {deep, retries}: Options=…): Promise<Order>"),
        ("CachedClient.size", "function", "(): number"),
        ("CachedClient.drop", "function", "(key: string)"),
        ("connect", "function", "(url: string): CachedClient"),
        ("handlers", "variable", ""),
        ("handlers.open", "function", "()"),
        ("handlers.close", "function", "(client: Client)"),
        ("main", "function", "(): void"),
    }
    docs = {found.name: found.doc for found in facts.definitions if found.doc}
    assert docs == {
        "Client": "What every client can do.",
        "CachedClient": "Keeps orders for a while.",
        "get": "Ask once, then remember.",
    }
    assert facts.doc == "Talks to the shop's server."
    assert not facts.broken


def test_bases_decorators_lines_and_what_is_exported_are_read():
    facts = parse("typescript", CLIENT)

    definitions = {name_of(facts, number): found for number, found in enumerate(facts.definitions)}
    client = definitions["CachedClient"]
    assert client.bases == ("BaseClient", "Client")
    assert client.decorators == ("injectable",)
    assert CLIENT.splitlines()[client.line - 1].startswith(b"@injectable")
    assert CLIENT.splitlines()[client.end - 1] == b"}"
    assert definitions["Client"].bases == ("Closable",)
    assert definitions["CachedClient.size"].decorators == ("get",)
    hidden = {name for name, found in definitions.items() if not found.exported}
    assert hidden == {"BASE", "CachedClient.#token", "CachedClient.store", "CachedClient.drop"}


def test_imports_and_exports_of_modules_are_read():
    facts = parse("typescript", CLIENT)

    assert facts.imports == (
        Import("axios", "default", "axios", 3),
        Import("axios", "AxiosInstance", "", 3),
        Import("./errors.js", "", "errors", 4),
        Import("./cache", "Cache", "Store", 5),
        Import("./retry", "retry", "again", 6, reexport=True),
        Import("./types", "*", "", 7, reexport=True),
    )
    assert ("exports.default", "main") in {found[:2] for found in facts.bindings}


def test_calls_and_bindings_are_chains():
    facts = parse("typescript", CLIENT)

    called = {
        (found.chain, name_of(facts, found.scope)) for found in facts.references if found.kind == "calls"
    }
    assert called >= {
        ("super", "CachedClient.constructor"),
        ("this.store.read", "CachedClient.get"),
        ("this.http.get", "CachedClient.get"),
        ("line.check", "CachedClient.get"),
        ("Order", "CachedClient.get"),
        ("this.store.remove", "CachedClient.drop"),
        ("CachedClient", "connect"),
        ("axios.create", "connect"),
        ("connect", "handlers.open"),
        ("client.drop", "handlers.close"),
        ("item.print", "main"),
    }
    given = {
        (found.name, found.value, found.annotated, name_of(facts, found.scope)) for found in facts.bindings
    }
    assert given >= {
        ("this.store", "Store", True, "CachedClient"),
        ("this.http", "AxiosInstance", True, "CachedClient"),
        ("this.started", "clock.now()", False, "CachedClient.constructor"),
        ("found", "this.store.read()", False, "CachedClient.get"),
        ("data", "this.http.get().data", False, "CachedClient.get"),
        ("line", "data.lines[]", False, "CachedClient.get"),
        ("return", "Order()", False, "CachedClient.get"),
        ("return", "CachedClient()", False, "connect"),
        ("item", "Order", True, "main"),
    }


def test_no_default_and_no_literal_is_kept():
    assert "hunter2" not in repr(parse("typescript", CLIENT))


COMMON = b"""\
#!/usr/bin/env node
'use strict'
const fs = require('fs'), { join: glue, sep } = require("path");
const later = () => import("./later.mjs");
exports.again = require('./retry').again;

function Queue(size) { this.items = new Ring(size); }
Queue.prototype.push = function (item) { return this.items.add(item); };
Queue.limit = 3;

class Worker extends events.EventEmitter { run() { super.run(); } }

module.exports = { Queue, start: boot, stop() {}, pause: function () {} };
"""


def test_commonjs_is_read_like_modules():
    facts = parse("javascript", COMMON)

    assert facts.imports == (
        Import("fs", "", "fs", 3),
        Import("path", "join", "glue", 3),
        Import("path", "sep", "sep", 3),
        Import("./later.mjs", "", "", 4, scope=0),
        Import("./retry", "again", "again", 5, reexport=True),
    )
    names = {name_of(facts, number) for number in range(len(facts.definitions))}
    assert names == {
        "later", "Queue", "Queue.push", "Worker", "Worker.run", "default", "default.stop", "default.pause"
    }  # fmt: skip
    given = {found[:2] for found in facts.bindings}
    assert given >= {
        ("exports.Queue", "Queue"),
        ("exports.start", "boot"),
        ("module.exports", "default"),
        ("this.items", "Ring()"),
    }
    assert facts.definitions[names_of(facts).index("Worker")].bases == ("events.EventEmitter",)


def test_elements_of_jsx_are_calls():
    source = b"""\
import { Row } from "./row";
export function Table({ rows }) { return <ui.Frame>{rows.map(row => <Row key={row.id} />)}<br/></ui.Frame>; }
"""

    for language in ("javascript", "tsx"):
        facts = parse(language, source)

        called = {found.chain for found in facts.references if found.kind == "calls"}
        assert called == {"Row", "ui.Frame", "rows.map"}


@pytest.mark.parametrize("language", ["javascript", "typescript", "tsx"])
def test_what_can_be_read_of_a_broken_file_is_read(language):
    source = b"export function whole() { part(); }\n\nclass Half { go( { \n\nfunction after() {}\nimport {"

    facts = parse(language, source)

    assert facts.broken
    assert "whole" in names_of(facts)
    assert "part" in {found.chain for found in facts.references}


@pytest.mark.parametrize("language", ["javascript", "typescript", "tsx"])
@pytest.mark.parametrize(
    "source",
    [
        b"",
        b"\xff\xfe\x00(",
        b"a" + b"(" * 3000,
        b"a" + b".b()" * 3000,
        b"[" * 5000,
        b"x = () => " * 500,
        b"{" * 2000 + b"}" * 2000,
        b"export default",
        b"exports = module.exports = {}",
        b"const {a: {b: [c = 1]}} = require('x')",
    ],
)
def test_no_source_is_too_odd(language, source):
    assert parse(language, source).language == language


@pytest.mark.parametrize("language", ["javascript", "typescript", "tsx"])
def test_calls_that_begin_at_one_place_are_told_in_the_order_they_are_made(language):
    names = "abcdefghij"
    source = b"shop." + "().".join(names).encode() + b"();\n"

    found = parse(language, source)

    assert [said.chain for said in found.references if said.kind == "calls"] == [
        "shop." + "().".join(names[: count + 1]) for count in range(len(names))
    ]


def name_of(facts, number):
    if number == FILE:
        return ""
    found = facts.definitions[number]
    return found.name if found.scope == FILE else f"{name_of(facts, found.scope)}.{found.name}"


def names_of(facts):
    return [found.name for found in facts.definitions]
