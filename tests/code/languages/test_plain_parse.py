import pytest

from recollect.code.facts import FILE
from recollect.code.languages.parser import parse

GO = (
    """\
// Package shop sells things.
package shop

import (
	"fmt"
	db "example.com/shop/internal/store"
	. "math"
)

// Limit is how many.
const Limit = 3

var token = "hunter2"

// Server serves.
type Server struct {
	Base
	*db.Cache
	name string
}

type Runner interface {
	Run(ctx Context) error
}

// New makes one.
func New(name string, sizes ...int) (*Server, error) {
	server := &Server{name: name}
	return server, nil
}

func (s *Server) Run(ctx Context) error {
	s.start()
	fmt.Println(db.Open("x").Get())
	return nil
}

func (l List[T]) Len() int { return len(l) }
""",
    {
        "Limit variable",
        "token variable hidden",
        "Server class",
        "Runner class",
        "Runner.Run function (ctx Context) -> error",
        "New function (name string, sizes ...int) -> (*Server, error)",
        "Server.Run function (ctx Context) -> error",
        "List.Len function () -> int",
    },
    {"Limit": "Limit is how many.", "Server": "Server serves.", "New": "New makes one."},
    {"Server": ("Base", "db.Cache")},
    {("fmt", "", ""), ("example.com/shop/internal/store", "", "db"), ("math", "*", "")},
    {
        ("Server.Run", "s.start"),
        ("Server.Run", "fmt.Println"),
        ("Server.Run", "db.Open"),
        ("Server.Run", "db.Open().Get"),
    },
    "Package shop sells things.",
)

RUST = (
    """\
//! Sells things.

use std::fs;
use crate::store::{self, inner::Cache as Kept, open};
pub use super::parts::*;
mod inner;

pub const LIMIT: u32 = 3;

/// Serves.
#[derive(Debug)]
pub struct Server<T> {
    kept: Kept,
}

pub trait Run: Base {
    fn run(&self) -> u8;
}

impl<T> Run for Server<T> {
    fn run(&self) -> u8 {
        self.kept.get(1);
        store::open("x").read();
        Self::new("a");
        free::<u8>(1)
    }
}

impl<T> Server<T> {
    /// Makes one.
    pub fn new(name: &str) -> Self {
        let kept: Kept = Kept::new();
        kept.put(name);
        todo!()
    }
}

impl Foreign {
    fn go(self) {}
}

fn free<N>(n: N) -> u8 { 1 }

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn works() { free(1); }
}
""",
    {
        "LIMIT variable",
        "Server class",
        "Run class",
        "Run.run function (&self) -> u8",
        "Server.run function (&self) -> u8",
        "Server.new function (name: &str) -> Self",
        "Foreign.go function (self) hidden",
        "free function (n: N) -> u8 hidden",
        "tests class hidden",
        "tests.works function () hidden",
    },
    {"Server": "Serves.", "new": "Makes one."},
    {"Server": ("Run",), "Run": ("Base",)},
    {
        ("std", "fs", ""),
        ("crate", "store", ""),
        ("crate::store::inner", "Cache", "Kept"),
        ("crate::store", "open", ""),
        ("super::parts", "*", ""),
        ("self", "inner", ""),
        ("super", "*", ""),
    },
    {
        ("Server.run", "self.kept.get"),
        ("Server.run", "store.open().read"),
        ("Server.run", "Self.new"),
        ("Server.run", "free"),
        ("Server.new", "Kept.new"),
        ("Server.new", "kept.put"),
        ("tests.works", "free"),
    },
    "Sells things.",
)

JAVA = (
    """\
/** Sells things. */
package com.shop.core;

import com.shop.store.Store;
import static com.shop.util.Text.*;

/**
 * Serves.
 */
@Service("hunter2")
public class Server<T> extends Base<T> implements Runner, Closeable {
  private static final String TOKEN = "hunter2";
  private final Store store = new Store();

  public Server(Store store) { super(store); }

  @Override
  public Order run(final String name, int... sizes) throws Failed {
    Order order = new Order();
    order.check();
    this.store.save(name);
    helper().again();
    return Text.trim(name);
  }

  interface Inner { void go(); }
}
""",
    {
        "Server class",
        "Server.TOKEN variable hidden",
        "Server.store variable hidden",
        "Server.Server function (Store store)",
        "Server.run function (final String name, int... sizes) -> Order",
        "Server.Inner class",
        "Server.Inner.go function () -> void",
    },
    {"Server": "Serves."},
    {"Server": ("Base", "Runner", "Closeable")},
    {("com.shop.store", "Store", ""), ("com.shop.util.Text", "*", "")},
    {
        ("Server.Server", "super"),
        ("Server.run", "Order"),
        ("Server.run", "order.check"),
        ("Server.run", "this.store.save"),
        ("Server.run", "helper().again"),
        ("Server.run", "Text.trim"),
    },
    "Sells things.",
)

C = (
    """\
/* Sells things. */
#include <stdio.h>
#include "store/cache.h"

#define LIMIT 3
#define MAX(a, b) ((a) > (b) ? (a) : (b))

typedef struct { int x; } point_t;

struct server { struct cache *kept; };

static int counter = 0;

// Serves.
static int run(struct server *server, const char *name)
{
    cache_put(server->kept, name);
    return server->on_done(1);
}

char *name_of(int number) { return MAX(number, 1); }
""",
    {
        "LIMIT variable",
        "MAX function (a, b)",
        "point_t class",
        "server class",
        "counter variable hidden",
        "run function (struct server *server, const char *name) -> int hidden",
        "name_of function (int number) -> char",
    },
    {"run": "Serves."},
    {},
    {("<stdio.h>", "*", ""), ("store/cache.h", "*", "")},
    {("run", "cache_put"), ("run", "server.on_done"), ("name_of", "MAX")},
    "Sells things.",
)

CPP = (
    """\
// Sells things.
#include "server.h"

namespace shop::core {

/// Serves.
template <typename T>
class Server : public Base<T>, private store::Runner {
 public:
  explicit Server(const std::string& name, int size = 3) : name_(name) {}
  virtual void run() = 0;
  Store* store_;
};

void Other::stop() {
  this->run();
  store_->save(1);
  auto made = Server(1);
  made.go();
  ns::free<int>(3);
  delete new Store();
}

bool operator==(const P& a, const P& b) { return true; }

}  // namespace shop::core
""",
    {
        "Server class",
        "Server.Server function (const std::string& name, int size=…)",
        "Server.run function () -> void",
        "Other.stop function () -> void",
        "operator== function (const P& a, const P& b) -> bool",
    },
    {"Server": "Serves."},
    {"Server": ("Base", "store.Runner")},
    {("server.h", "*", "")},
    {
        ("Other.stop", "this.run"),
        ("Other.stop", "store_.save"),
        ("Other.stop", "made.go"),
        ("Other.stop", "ns.free"),
        ("Other.stop", "Store"),
    },
    "Sells things.",
)

RUBY = (
    """\
# frozen_string_literal: true

# Sells things.

require 'json'
require_relative 'store'

module Shop
  TOKEN = "hunter2"

  # Serves.
  class Server < Base::Thing
    include Runner

    def initialize(name, size = 3, *rest, token: "hunter2", &block)
      @store = Store.new(name)
    end

    def self.open(name) = new(name).run

    def ready?
      @store.save(1)
      Shop::Text.trim(name) { |line| line.go }
      stop
    end

    private

    def stop; end
  end
end
""",
    {
        "Shop class",
        "Shop.TOKEN variable",
        "Shop.Server class",
        "Shop.Server.initialize function (name, size=…, *rest, token: …, &block)",
        "Shop.Server.open function (name)",
        "Shop.Server.ready? function ()",
        "Shop.Server.stop function () hidden",
    },
    {"Server": "Serves."},
    {"Server": ("Base.Thing", "Runner")},
    {("json", "*", ""), ("./store", "*", "")},
    {
        ("Shop.Server.initialize", "Store.new"),
        ("Shop.Server.open", "new().run"),
        ("Shop.Server.ready?", "@store.save"),
        ("Shop.Server.ready?", "Shop.Text.trim"),
        ("Shop.Server.ready?", "stop"),
    },
    "Sells things.",
)

CSHARP = (
    """\
// Sells things.
using System;
using Text = Shop.Util.Text;

namespace Shop.Core
{
    /// <summary>
    /// Serves.
    /// </summary>
    [Service("hunter2")]
    public class Server<T> : Base<T>, IRunner where T : new()
    {
        private const string Token = "hunter2";
        private readonly Store _store = new Store();
        public string Name { get; set; }

        public Server(Store store, int size = 3) : base(store) { }

        public async Task<Order> Run(string name)
        {
            var order = new Order();
            order.Check();
            _store?.Save(name);
            await Text.Trim<int>(name);
            return order;
        }
    }

    interface IRunner { void Run(); }
}
""",
    {
        "Server class",
        "Server.Token variable hidden",
        "Server._store variable hidden",
        "Server.Name variable",
        "Server.Server function (Store store, int size=…)",
        "Server.Run function (string name) -> Task<Order>",
        "IRunner class",
        "IRunner.Run function () -> void",
    },
    {"Server": "Serves."},
    {"Server": ("Base", "IRunner")},
    {("System", "*", ""), ("Shop.Util", "Text", "Text")},
    {
        ("Server.Run", "Order"),
        ("Server.Run", "order.Check"),
        ("Server.Run", "_store.Save"),
        ("Server.Run", "Text.Trim"),
    },
    "Sells things.",
)

PHP = (
    """\
<?php
// Sells things.

namespace Shop\\Core;

use Shop\\Store\\Cache;
use Shop\\Util\\{Text as T, Num};
use function Shop\\helper;

require_once __DIR__ . '/boot.php';

const TOKEN = 'hunter2';

/** Serves. */
#[Service]
final class Server extends Base implements Runner
{
    use Logs;

    private Cache $cache;

    public function __construct(private Store $store, string $token = 'hunter2') { parent::__construct(); }

    public static function make(): static { return new self(); }

    protected function run(string $name): ?Order
    {
        $order = new Order();
        $order->check();
        $this->store->save($name);
        helper(1);
        T::trim($name);
        return $order;
    }
}
""",
    {
        "TOKEN variable",
        "Server class",
        "Server.cache variable hidden",
        "Server.__construct function (private Store $store, string $token=…)",
        "Server.make function () -> static",
        "Server.run function (string $name) -> ?Order hidden",
    },
    {"Server": "Serves."},
    {"Server": ("Base", "Runner", "Logs")},
    {
        ("Shop.Store", "Cache", ""),
        ("Shop.Util", "Text", "T"),
        ("Shop.Util", "Num", ""),
        ("Shop", "helper", ""),
        ("./boot.php", "*", ""),
    },
    {
        ("Server.__construct", "parent.__construct"),
        ("Server.make", "self"),
        ("Server.run", "Order"),
        ("Server.run", "$order.check"),
        ("Server.run", "$this.store.save"),
        ("Server.run", "helper"),
        ("Server.run", "T.trim"),
    },
    "Sells things.",
)

KOTLIN = (
    """\
// Sells things.
package shop.core

import shop.store.Cache
import shop.util.*
import shop.text.trim as cut

const val TOKEN = "hunter2"

/** Serves. */
class Server(private val store: Store, token: String = "hunter2") : Base<T>(store), Runner {
    private val cache: Cache = Cache()

    override fun run(name: String, deep: Boolean = false): Order? {
        val order = Order()
        order.check()
        store.save(cut(name))
        cache?.get()!!.put()
        return order
    }

    companion object {
        fun make() = Server()
    }

    private fun stop() {}
}

object Single {
    fun go() {}
}

fun Order.shout(): String = this.text()
""",
    {
        "TOKEN variable",
        "Server class",
        "Server.cache variable hidden",
        "Server.run function (name: String, deep: Boolean=…) -> Order?",
        "Server.make function ()",
        "Server.stop function () hidden",
        "Single class",
        "Single.go function ()",
        "Order.shout function () -> String",
    },
    {"Server": "Serves."},
    {"Server": ("Base", "Runner")},
    {("shop.store", "Cache", ""), ("shop.util", "*", ""), ("shop.text", "trim", "cut")},
    {
        ("Server.run", "Order"),
        ("Server.run", "order.check"),
        ("Server.run", "store.save"),
        ("Server.run", "cut"),
        ("Server.run", "cache.get().put"),
        ("Server.make", "Server"),
        ("Order.shout", "this.text"),
    },
    "Sells things.",
)

BASH = (
    """\
#!/bin/bash
# Sells things.

LIMIT=3
export TOKEN="hunter2"

. ./lib/common.sh
source "$(dirname "$0")/more.sh"

# Serves.
run() {
  local name=$1
  stop "$name" | filter
  made=$(compute 1)
}

function stop { return 0; }

run "$@"
""",
    {"LIMIT variable", "TOKEN variable", "run function ()", "stop function ()"},
    {"run": "Serves."},
    {},
    {("./lib/common.sh", "*", ""), ("more.sh", "*", "")},
    {("run", "stop"), ("run", "filter"), ("run", "compute"), ("", "run")},
    "Sells things.",
)

PROGRAMS = {
    "go": GO, "rust": RUST, "java": JAVA, "c": C, "cpp": CPP, "ruby": RUBY, "csharp": CSHARP, "php": PHP,
    "kotlin": KOTLIN, "bash": BASH,
}  # fmt: skip


@pytest.mark.parametrize("language", PROGRAMS)
def test_what_a_program_says_is_found(language):
    source, definitions, docs, bases, imports, calls, doc = PROGRAMS[language]

    facts = parse(language, source.encode())

    assert {described(facts, number) for number in range(len(facts.definitions))} == definitions
    assert {found.name: found.doc for found in facts.definitions if found.doc} == docs
    assert {found.name: found.bases for found in facts.definitions if found.bases} == bases
    assert {found[:3] for found in facts.imports} == imports
    assert {(name_of(facts, found.scope), found.chain) for found in facts.references} >= calls
    assert facts.doc == doc
    assert not facts.broken


@pytest.mark.parametrize("language", PROGRAMS)
def test_no_value_is_kept(language):
    assert "hunter2" not in repr(parse(language, PROGRAMS[language][0].encode()))


@pytest.mark.parametrize("language", PROGRAMS)
def test_lines_are_those_of_the_definition(language):
    source = PROGRAMS[language][0]

    for found in parse(language, source.encode()).definitions:
        lines = source.splitlines()[found.line - 1 : found.end]
        assert any(found.name.rpartition(".")[2] in line for line in lines)
        assert found.line <= found.end


@pytest.mark.parametrize("language", PROGRAMS)
def test_what_can_be_read_of_a_broken_program_is_read(language):
    source, definitions, *_ = PROGRAMS[language]
    broken = source.encode() + b"\n}}} ((( [ <<< \xff 'unclosed \n"

    facts = parse(language, broken)

    found = {described(facts, number) for number in range(len(facts.definitions))}
    assert facts.broken
    assert len(found & definitions) >= len(definitions) / 2


@pytest.mark.parametrize("language", PROGRAMS)
@pytest.mark.parametrize(
    "source",
    [
        b"",
        b"\x00\xff\xfe",
        b"(" * 3000,
        b"a" + b".b()" * 2000,
        b"{" * 3000,
        b"class " * 500,
        b"x = " * 500,
        b"<" * 900,
    ],
)
def test_no_source_is_too_odd(language, source):
    assert parse(language, source).language == language


def described(facts, number):
    found = facts.definitions[number]
    parts = (name_of(facts, number), found.kind, found.signature, "" if found.exported else "hidden")
    return " ".join(part for part in parts if part)


def name_of(facts, number):
    if number == FILE:
        return ""
    found = facts.definitions[number]
    return found.name if found.scope == FILE else f"{name_of(facts, found.scope)}.{found.name}"


def test_a_name_for_a_type_inside_a_function_is_no_definition():
    source = b"using Id = int;\nvoid pay() {\n  using D = Id;\n  typedef D E;\n}\n"

    facts = parse("cpp", source)

    assert [found.name for found in facts.definitions] == ["Id", "pay"]


def test_a_name_drawn_in_letters_does_not_describe_a_file():
    source = b"//  __ _\n// / _` |\n//  __/ | https://example.org/shop\n// |___/  version 2\n\n#include <a.h>\nint x;\n"

    assert parse("cpp", source).doc == ""
