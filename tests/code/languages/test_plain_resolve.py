import pytest

from recollect.code.languages.parser import parse
from recollect.code.languages.plain.resolver import PlainResolver
from recollect.code.languages.table import language_of

CONFIGS = {
    "go.mod": b"module example.com/shop\n\ngo 1.22\n",
    "Cargo.toml": b'[package]\nname = "shop-core"\nversion = "0.1.0"\n',
    "tools/Cargo.toml": b'[package]\nedition = "2021"\nname = "tools"\n',
}

GO = (
    {
        "main.go": """
package main
import ("fmt"; "example.com/shop/store")
func main() {
	cache := store.Open()
	cache.Put("x")
	help()
	fmt.Println(store.Open().Size())
}
""",
        "help.go": "package main\nfunc help() {}\n",
        "store/cache.go": """
package store
type Cache struct { Base }
func Open() *Cache { return &Cache{} }
func (c *Cache) Put(key string) { c.grow(); c.note() }
""",
        "store/more.go": """
package store
type Base struct{}
func (b *Base) note() {}
func (c *Cache) grow() {}
func (c *Cache) Size() int { return 1 }
""",
    },
    {
        ("main.go::main", "calls", "store/cache.go::Open", "import"),
        ("main.go::main", "calls", "store/cache.go::Cache.Put", "type"),
        ("main.go::main", "calls", "help.go::help", "scope"),
        ("main.go::main", "calls", "external:fmt.Println", "import"),
        ("main.go::main", "calls", "store/more.go::Cache.Size", "type"),
        ("main.go", "imports", "store/cache.go", "written"),
        ("main.go", "imports", "external:fmt", "written"),
        ("store/cache.go::Cache.Put", "calls", "store/more.go::Cache.grow", "self"),
        ("store/cache.go::Cache.Put", "calls", "store/more.go::Base.note", "self"),
        ("store/cache.go::Cache", "inherits", "store/more.go::Base", "scope"),
    },
)

RUST = (
    {
        "src/lib.rs": """
pub mod store;
mod help;
pub use store::Cache;
use std::fs;
pub fn run() {
    let cache = Cache::open();
    cache.put(1);
    help::aid();
    crate::store::deep::dive();
    fs::read("x");
}
""",
        "src/store/mod.rs": """
pub mod deep;
pub struct Cache { n: u8 }
impl Cache {
    pub fn open() -> Self { Cache { n: 1 } }
    pub fn put(&self, n: u8) { self.grow(); super::help::aid(); }
    fn grow(&self) {}
}
""",
        "src/store/deep.rs": "pub fn dive() {}\n",
        "src/help.rs": "pub fn aid() { own(); }\nfn own() {}\nmod tests { use super::*; fn t() { own(); super::aid(); } }\n",
        "tools/src/main.rs": "use shop_core::Cache;\nfn main() { Cache::open().put(1); }\n",
    },
    {
        ("src/lib.rs::run", "calls", "src/store/mod.rs::Cache.open", "import"),
        ("src/lib.rs::run", "calls", "src/store/mod.rs::Cache.put", "type"),
        ("src/lib.rs::run", "calls", "src/help.rs::aid", "import"),
        ("src/lib.rs::run", "calls", "src/store/deep.rs::dive", "import"),
        ("src/lib.rs::run", "calls", "external:std::fs.read", "import"),
        ("src/lib.rs", "imports", "src/help.rs", "written"),
        ("src/lib.rs", "imports", "src/store/mod.rs", "written"),
        ("src/store/mod.rs::Cache.put", "calls", "src/store/mod.rs::Cache.grow", "self"),
        ("src/store/mod.rs::Cache.put", "calls", "src/help.rs::aid", "import"),
        ("src/help.rs::tests.t", "calls", "src/help.rs::own", "scope"),
        ("src/help.rs::tests.t", "calls", "src/help.rs::aid", "import"),
        ("tools/src/main.rs::main", "calls", "src/store/mod.rs::Cache.put", "type"),
    },
)

JAVA = (
    {
        "src/com/shop/Server.java": """
package com.shop;
import com.shop.store.Store;
import static com.shop.util.Text.*;
public class Server extends Base implements Runner {
  private final Store store = new Store();
  public void run(Order order) {
    store.save(order);
    this.stop();
    rest();
    trim("x");
    order.total().show();
    com.shop.util.Text.trim("y");
  }
}
""",
        "src/com/shop/Base.java": "package com.shop;\nclass Base { void stop() {} void rest() {} }\ninterface Runner {}\n",
        "src/com/shop/Order.java": "package com.shop;\nclass Order { Money total() { return null; } }\nclass Money { void show() {} }\n",
        "src/com/shop/store/Store.java": "package com.shop.store;\npublic class Store { public Store() {} public void save(Object o) {} }\n",
        "src/com/shop/util/Text.java": "package com.shop.util;\npublic class Text { public static String trim(String s) { return s; } }\n",
        "src/com/shop/Extra.kt": "package com.shop\n\nfun extra(server: Server) {\n    server.rest()\n}\n",
    },
    {
        ("src/com/shop/Server.java::Server", "calls", "src/com/shop/store/Store.java::Store.Store", "import"),
        (
            "src/com/shop/Server.java::Server.run",
            "calls",
            "src/com/shop/store/Store.java::Store.save",
            "type",
        ),
        ("src/com/shop/Server.java::Server.run", "calls", "src/com/shop/Base.java::Base.stop", "self"),
        ("src/com/shop/Server.java::Server.run", "calls", "src/com/shop/Base.java::Base.rest", "self"),
        ("src/com/shop/Server.java::Server.run", "calls", "src/com/shop/util/Text.java::Text.trim", "import"),
        ("src/com/shop/Server.java::Server.run", "calls", "src/com/shop/Order.java::Order.total", "type"),
        ("src/com/shop/Server.java::Server.run", "calls", "src/com/shop/Order.java::Money.show", "type"),
        ("src/com/shop/Server.java::Server", "inherits", "src/com/shop/Base.java::Base", "scope"),
        ("src/com/shop/Server.java", "imports", "src/com/shop/store/Store.java", "written"),
        ("src/com/shop/Server.java", "imports", "src/com/shop/util/Text.java", "written"),
        ("src/com/shop/Extra.kt::extra", "calls", "src/com/shop/Base.java::Base.rest", "type"),
    },
)

C = (
    {
        "src/main.c": '#include "store.h"\n#include <stdio.h>\nstatic int own(void) { return 1; }\nint main(void) { own(); store_put(1); printf("x"); LIMIT(2); far_off(); return 0; }\n',
        "include/store.h": "#define LIMIT(n) (n)\nstruct store { int n; };\nint store_put(int n);\n",
        "src/store.c": '#include "store.h"\nstatic int own(void) { return 2; }\nint store_put(int n) { return own(); }\n',
        "lib/far.c": "int far_off(void) { return 1; }\n",
        "gui/window.h": "class Window : public Frame {\n public:\n  void show();\n  Panel* panel_;\n};\nclass Frame { public: void draw() {} };\nclass Panel { public: void fill() {} };\n",
        "gui/window.cpp": '#include "window.h"\nvoid Window::show() { draw(); this->draw(); panel_->fill(); gui::tools::paint(); }\nvoid paint() {}\n',
        "gui/app.cpp": '#include "window.h"\nint run() { Window window; window.show(); return 1; }\n',
    },
    {
        ("src/main.c::main", "calls", "src/main.c::own", "scope"),
        ("src/main.c::main", "calls", "src/store.c::store_put", "import"),
        ("src/main.c::main", "calls", "include/store.h::LIMIT", "import"),
        ("src/main.c::main", "calls", "lib/far.c::far_off", "import"),
        ("src/main.c", "imports", "include/store.h", "written"),
        ("src/main.c", "imports", "external:stdio.h", "written"),
        ("src/store.c::store_put", "calls", "src/store.c::own", "scope"),
        ("gui/window.cpp::Window.show", "calls", "gui/window.h::Frame.draw", "self"),
        ("gui/window.cpp::Window.show", "calls", "gui/window.h::Panel.fill", "type"),
        ("gui/window.cpp::Window.show", "calls", "gui/window.cpp::paint", "scope"),
        ("gui/app.cpp::run", "calls", "gui/window.cpp::Window.show", "type"),
    },
)

RUBY = (
    {
        "lib/shop/server.rb": """
require 'json'
require 'shop/store'
require_relative 'base'
module Shop
  class Server < Base
    def initialize
      @store = Store.new
    end
    def run
      @store.save
      stop
      self.rest
      Shop::Text.trim
      unknown.lonely
    end
    def stop; end
  end
end
""",
        "lib/shop/base.rb": "module Shop\n  class Base\n    def rest; end\n  end\nend\n",
        "lib/shop/store.rb": "module Shop\n  class Store\n    def initialize; end\n    def save; end\n    def lonely; end\n  end\nend\n",
        "lib/shop/text.rb": "module Shop\n  module Text\n    def self.trim; end\n  end\nend\n",
    },
    {
        (
            "lib/shop/server.rb::Shop.Server.initialize",
            "calls",
            "lib/shop/store.rb::Shop.Store.initialize",
            "scope",
        ),
        ("lib/shop/server.rb::Shop.Server.run", "calls", "lib/shop/store.rb::Shop.Store.save", "type"),
        ("lib/shop/server.rb::Shop.Server.run", "calls", "lib/shop/server.rb::Shop.Server.stop", "self"),
        ("lib/shop/server.rb::Shop.Server.run", "calls", "lib/shop/base.rb::Shop.Base.rest", "self"),
        ("lib/shop/server.rb::Shop.Server.run", "calls", "lib/shop/text.rb::Shop.Text.trim", "scope"),
        ("lib/shop/server.rb::Shop.Server.run", "calls", "lib/shop/store.rb::Shop.Store.lonely", "name"),
        ("lib/shop/server.rb::Shop.Server", "inherits", "lib/shop/base.rb::Shop.Base", "scope"),
        ("lib/shop/server.rb", "imports", "lib/shop/base.rb", "written"),
        ("lib/shop/server.rb", "imports", "lib/shop/store.rb", "written"),
        ("lib/shop/server.rb", "imports", "external:json", "written"),
    },
)

CSHARP = (
    {
        "Core/Server.cs": """
using System;
using Shop.Stores;
using T = Shop.Util.Text;
namespace Shop.Core
{
    public class Server : Base
    {
        private readonly Store _store = new Store();
        public void Run(Order order) { _store.Save(); Rest(); base.Rest(); T.Trim(); order.Check(); Console.WriteLine(); }
    }
}
""",
        "Core/Base.cs": "namespace Shop.Core;\npublic class Base { public void Rest() {} }\n",
        "Order.cs": "namespace Shop;\npublic class Order { public void Check() {} }\n",
        "Stores/Store.cs": "namespace Shop.Stores;\npublic class Store { public void Save() {} }\n",
        "Util/Text.cs": "namespace Shop.Util;\npublic static class Text { public static void Trim() {} }\n",
    },
    {
        ("Core/Server.cs::Server.Run", "calls", "Stores/Store.cs::Store.Save", "type"),
        ("Core/Server.cs::Server.Run", "calls", "Core/Base.cs::Base.Rest", "self"),
        ("Core/Server.cs::Server.Run", "calls", "Util/Text.cs::Text.Trim", "import"),
        ("Core/Server.cs::Server.Run", "calls", "Order.cs::Order.Check", "type"),
        ("Core/Server.cs::Server.Run", "references", "Order.cs::Order", "import"),
        ("Core/Server.cs::Server", "inherits", "Core/Base.cs::Base", "scope"),
        ("Core/Server.cs", "imports", "Stores/Store.cs", "written"),
        ("Core/Server.cs", "imports", "Util/Text.cs", "written"),
        ("Core/Server.cs", "imports", "external:System", "written"),
    },
)

PHP = (
    {
        "src/Server.php": """<?php
namespace Shop;
use Shop\\Store\\Cache;
use function Shop\\Util\\helper;
use Psr\\Log\\LoggerInterface;
class Server extends Base {
    public function __construct(private Cache $cache, private LoggerInterface $log) {}
    public function run(Order $order) {
        $this->cache->save();
        $this->rest();
        parent::rest();
        helper();
        $made = new Order();
        $made->check();
        $this->log->info('x');
        \\Shop\\Util\\Text::trim();
    }
}
""",
        "src/Base.php": "<?php\nnamespace Shop;\nclass Base { public function rest() {} }\nclass Order { public function check() {} }\n",
        "src/Store/Cache.php": "<?php\nnamespace Shop\\Store;\nclass Cache { public function save() {} }\n",
        "src/Util/util.php": "<?php\nnamespace Shop\\Util;\nfunction helper() {}\nclass Text { public static function trim() {} }\n",
    },
    {
        ("src/Server.php::Server.run", "calls", "src/Store/Cache.php::Cache.save", "type"),
        ("src/Server.php::Server.run", "calls", "src/Base.php::Base.rest", "self"),
        ("src/Server.php::Server.run", "calls", "src/Util/util.php::helper", "import"),
        ("src/Server.php::Server.run", "calls", "src/Base.php::Order.check", "type"),
        ("src/Server.php::Server.run", "calls", "src/Util/util.php::Text.trim", "import"),
        ("src/Server.php::Server.run", "calls", "external:Psr.Log.LoggerInterface.info", "self"),
        ("src/Server.php", "imports", "src/Store/Cache.php", "written"),
        ("src/Server.php", "imports", "src/Util/util.php", "written"),
    },
)

BASH = (
    {
        "bin/run.sh": '. "$(dirname "$0")/../lib/common.sh"\nmain() { note "x"; deep; ls; }\nmain "$@"\n',
        "lib/common.sh": "source ./deep.sh\nnote() { echo hi; }\n",
        "lib/deep.sh": "deep() { true; }\n",
    },
    {
        ("bin/run.sh::main", "calls", "lib/common.sh::note", "import"),
        ("bin/run.sh::main", "calls", "lib/deep.sh::deep", "import"),
        ("bin/run.sh", "calls", "bin/run.sh::main", "scope"),
        ("bin/run.sh", "imports", "lib/common.sh", "written"),
        ("lib/common.sh", "imports", "lib/deep.sh", "written"),
    },
)

PROJECTS = {
    "go": GO,
    "rust": RUST,
    "java": JAVA,
    "c": C,
    "ruby": RUBY,
    "csharp": CSHARP,
    "php": PHP,
    "bash": BASH,
}


@pytest.mark.parametrize("language", PROJECTS)
def test_names_lead_to_what_they_mean_in_the_language(language):
    sources, expected = PROJECTS[language]
    resolver = resolver_of(sources)

    edges = {edge[:4] for path in sources for edge in resolver.edges(path)}

    assert expected - edges == set()


def test_languages_do_not_see_each_other():
    sources = {path: source for project, _ in PROJECTS.values() for path, source in project.items()}
    resolver = resolver_of(sources)

    for project, _ in PROJECTS.values():
        for path in project:
            inside = {edge.target.partition("::")[0] for edge in resolver.edges(path)} & sources.keys()
            assert inside <= project.keys()


def test_a_static_function_of_another_file_is_never_called():
    edges = resolver_of(C[0]).edges("src/main.c")

    assert "src/store.c::own" not in {edge.target for edge in edges}


@pytest.mark.parametrize(
    "language, path, importers",
    [
        ("go", "store/cache.go", {"store/more.go", "main.go"}),
        ("rust", "src/help.rs", {"src/lib.rs"}),
        ("rust", "src/store/mod.rs", {"src/lib.rs", "tools/src/main.rs"}),
        ("c", "include/store.h", {"src/main.c", "src/store.c"}),
        ("ruby", "lib/shop/base.rb", {"lib/shop/server.rb"}),
        ("bash", "lib/deep.sh", {"lib/common.sh", "bin/run.sh"}),
    ],
)
def test_importers_are_those_that_may_see_a_change(language, path, importers):
    assert importers <= resolver_of(PROJECTS[language][0]).importers(path)


def test_a_changed_file_changes_the_edges_to_it():
    resolver = resolver_of(GO[0])

    resolver.update("help.go", parse("go", b"package main\nfunc other() {}\n"))
    after_change = {edge.target for edge in resolver.edges("main.go")}
    resolver.update("help.go", parse("go", b"package main\nfunc help() {}\n"))
    after_return = {edge.target for edge in resolver.edges("main.go")}
    resolver.update("help.go", None)
    after_end = {edge.target for edge in resolver.edges("main.go")}

    assert "help.go::help" not in after_change | after_end
    assert "help.go::help" in after_return


@pytest.mark.parametrize(
    "path, source",
    [
        (
            "a.go",
            "package a\ntype A struct { B }\ntype B struct { A }\nfunc f(a A) { a.x(); f := f(f); f.y() }",
        ),
        (
            "A.java",
            "class A extends B { A a = a.a; void f() { a.b.c(); } } class B extends A { void g() { h(); } }",
        ),
        ("a.h", "struct a { struct a *a; }; class B : public B { void f() { a->a->g(); } };"),
        ("a.rb", "class A < A\n  def f\n    @a = @a.f\n    @a.g\n  end\nend"),
        (
            "src/lib.rs",
            "pub use self::*; pub use crate::a::*; mod a; fn f() { a::b::c(); super::x(); self::y(); }",
        ),
        ("a.sh", ". ./a.sh\na() { a; }"),
        (
            "a.php",
            "<?php namespace A; use A\\A; class A extends A { function f() { $a = $a->b(); $a->c(); } }",
        ),
    ],
)
def test_circles_come_to_an_end(path, source):
    resolver = resolver_of({path: source})

    assert isinstance(resolver.edges(path), list)


@pytest.mark.parametrize("imported", ["*", "gone"])
def test_classes_that_import_the_members_of_each_other_come_to_an_end(imported):
    sources = {
        "a/A.java": f"package a; import static b.B.{imported}; class A extends Gone {{ void f() {{ gone(); }} }}",
        "b/B.java": f"package b; import static a.A.{imported}; class B extends Lost {{ void g() {{ lost(); }} }}",
    }
    resolver = resolver_of(sources)

    assert all(isinstance(resolver.edges(path), list) for path in sources)


def resolver_of(sources):
    files = {path: parse(language_of(path), source.encode()) for path, source in sources.items()}
    return PlainResolver(files, CONFIGS.get)


def test_modules_that_export_each_other_do_not_stop_a_file():
    ring = {f"src/m{number}.rs": "" for number in range(40)}
    for number, path in enumerate(ring):
        names = [f"pub use crate::m{(number + step) % 40}::*;\n" for step in (1, 2, 3)]
        ring[path] = "".join(names) + "fn a() { nowhere(); b(); }\nfn b() {}\n"
    files = {**ring, "src/lib.rs": "".join(f"pub mod m{number};\n" for number in range(40))}
    resolver = PlainResolver(
        {path: parse("rust", text.encode()) for path, text in files.items()}, CONFIGS.get
    )

    edges = {(edge.source, edge.target) for edge in resolver.edges("src/m0.rs")}

    assert ("src/m0.rs::a", "src/m0.rs::b") in edges


@pytest.mark.parametrize(
    "path, source, edge",
    [
        ("a.go", "package a\ntype Till struct{}\nfunc run() { pay(&Till{}) }\n", ("run", "calls", "Till")),
        ("a.rs", "struct Till { n: u8 }\nfn run() { let t = Till { n: 1 }; }\n", ("run", "calls", "Till")),
        (
            "A.cs",
            "class TillAttribute : Attribute {}\nclass A { [Till] void Run() {} }\n",
            ("A.Run", "references", "TillAttribute"),
        ),
        ("A.java", "@interface Till {}\nclass A { @Till void run() {} }\n", ("A.run", "references", "Till")),
        (
            "a.go",
            "package a\ntype Till struct{}\nfunc (t *Till) Pay() {}\n"
            "func run(x any) {\n\tif till, ok := x.(*Till); ok {\n\t\ttill.Pay()\n\t}\n}\n",
            ("run", "calls", "Till.Pay"),
        ),
    ],
)
def test_a_literal_an_annotation_and_an_assertion_name_a_class(path, source, edge):
    files = {path: parse(language_of(path), source.encode())}

    found = {
        (each.source.partition("::")[2], each.kind, each.target.partition("::")[2])
        for each in PlainResolver(files).edges(path)
    }

    assert edge in found


@pytest.mark.parametrize("use", ["class Own < Shop::Till; end\n", "def run = Shop::Till.new\n"])
def test_a_class_is_meant_where_a_function_has_its_name(use):
    shop = "module Shop\n  def self.Till(n) = n\n\n  class Till\n    def initialize; end\n  end\nend\n"
    resolver = resolver_of({"a.rb": shop, "b.rb": f'require_relative "a"\n{use}'})

    assert {edge.target for edge in resolver.edges("b.rb") if edge.kind != "imports"} <= {
        "a.rb::Shop.Till#2",
        "a.rb::Shop.Till#2.initialize",
    }
    assert [edge for edge in resolver.edges("b.rb") if edge.kind != "imports"]


def test_a_function_is_meant_where_it_is_called_by_the_name_of_a_class():
    shop = "module Shop\n  def self.Till(n) = n\n\n  class Till\n  end\nend\n"
    resolver = resolver_of({"a.rb": shop, "b.rb": 'require_relative "a"\ndef run = Shop.Till(1)\n'})

    assert ("b.rb::run", "calls", "a.rb::Shop.Till") in {edge[:3] for edge in resolver.edges("b.rb")}


def test_a_name_in_a_class_of_ruby_means_no_method_of_the_modules_around_it():
    base = "module Shop\n  class Base\n    class Part\n      def self.register(n) = n\n    end\n  end\nend\n"
    own = (
        "module Shop\n  def self.register(n) = n\n\n  class Own < Base\n    class Till < Part\n"
        "      register :till\n    end\n  end\nend\n"
    )
    resolver = resolver_of({"base.rb": base, "own.rb": f'require_relative "base"\n{own}'})

    called = {edge.target for edge in resolver.edges("own.rb") if edge.kind == "calls"}

    assert called == {"base.rb::Shop.Base.Part.register"}
