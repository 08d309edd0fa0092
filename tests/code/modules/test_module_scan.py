"""From files to modules: what a maintainer would name."""

import pytest
from scan_inputs import code, scan_input

from recollect.code.modules.descriptions import says_what_it_is
from recollect.code.modules.module_map import Confidence
from recollect.code.modules.scan import scan
from recollect.code.paths import FileRole, classify_files


def modules(files, kind=FileRole.CODE, **known):
    return {each.name: each for each in scan(scan_input(files, **known)).modules if each.kind is kind}


def package(*paths, kilobytes=4):
    return {path: code(kilobytes) for path in paths}


SHOP = package(
    "src/shop/__init__.py",
    *(f"src/shop/auth/{name}.py" for name in ("tokens", "login", "sessions")),
    *(f"src/shop/billing/{name}.py" for name in ("invoice", "tax", "mail")),
    *(f"src/shop/stock/{name}.py" for name in ("shelf", "order", "count")),
)


def test_the_folders_of_the_only_package_are_the_modules():
    found = modules(SHOP)

    assert sorted(found) == ["auth", "billing", "shop", "stock"]
    assert set(found["auth"].core_files) == {
        f"src/shop/auth/{name}.py" for name in ("tokens", "login", "sessions")
    }
    assert found["auth"].confidence is Confidence.SHALLOW


def test_large_files_of_a_flat_package_are_modules_and_small_ones_join_what_they_are_linked_to():
    files = package("app/__init__.py", kilobytes=0) | package(
        *(f"app/{name}.py" for name in ("cli", "config", "web", "store")), kilobytes=20
    )
    files |= package("app/keys.py", kilobytes=1)

    found = modules(files, links={"app/store.py": {"app/keys.py": 3.0}, "app/cli.py": {"app/keys.py": 1.0}})

    assert sorted(found) == ["app", "cli", "config", "store", "web"]
    assert set(found["store"].core_files) == {"app/keys.py", "app/store.py"}


def test_files_that_are_classes_do_not_make_modules_by_themselves():
    files = package(*(f"src/main/java/org/shop/{name}.java" for name in "ABCDEFGH"), kilobytes=20)

    assert sorted(modules(files)) == ["shop"]


def test_each_package_of_a_workspace_is_a_module():
    files = {"Cargo.toml": "[workspace]\n"}
    for name in ("cli", "core", "regex"):
        files[f"crates/{name}/Cargo.toml"] = (
            f'[package]\nname = "{name}"\ndescription = "The {name} of it all."\n'
        )
        files[f"crates/{name}/src/lib.rs"] = code(5)

    found = modules(files)

    assert sorted(found) == ["cli", "core", "regex"]
    assert found["regex"].description == "The regex of it all."
    assert found["regex"].entry_points == ("crates/regex/src/lib.rs",)


@pytest.mark.parametrize(
    "path, text",
    [
        ("src/shop/auth/__init__.py", '"""A list of rights.\n\nMore of it.\n"""\n'),
        ("README.md", "# Shop\n\n- `auth`: A list of rights.\n"),
        ("README.md", "# Shop\n\n- **`src/shop/auth`** — A list of rights.\n"),
        ("README.md", "| part | what |\n| --- | --- |\n| `src/shop/auth/` | A list of rights. |\n"),
        ("src/shop/auth/README.md", "# auth\n\n![badge](x.svg)\n\nA list of rights. And more.\n"),
    ],
)
def test_a_module_is_described_in_the_projects_own_words(path, text):
    assert modules(SHOP | {path: text})["auth"].description == "A list of rights."


@pytest.mark.parametrize(
    "doc, description",
    [
        (
            "Options for :py:func:`shop.decode` and :meth:`~Till.open`.",
            "Options for shop.decode and Till.open.",
        ),
        ("WARNING: this API will change soon.", "login, sessions, tokens"),
        ("We have to cast here because the key is special.", "login, sessions, tokens"),
        ('Extensions for <see cref="Table"/>.', "Extensions for Table."),
        ("Contains extension methods for <x/>.", "login, sessions, tokens"),
        ("Keys as defined in :rfc:`4462`, with `.Till`.", "Keys as defined in RFC 4462, with Till."),
        (
            "Loads prices from the file to load() and save().",
            "Loads prices from the file to load() and save().",
        ),
        ("$description A till.\n$url shop.example", "login, sessions, tokens"),
        ("A web interface to tills.", "A web interface to tills."),
        (
            "Prices of the `other shop <https://shop.example>`_ and of `Till`_.",
            "Prices of the other shop and of Till.",
        ),
        ("Price class used by the till.", "login, sessions, tokens"),
        ("This map does not implement the interface of the others.", "login, sessions, tokens"),
        ("The shop's best friend for the terminal.", "login, sessions, tokens"),
        ("Helpers that make *till* more pleasant.", "Helpers that make till more pleasant."),
        ("A smarter till for your shop.", "A smarter till for your shop."),
    ],
)
def test_markup_and_remarks_are_not_part_of_a_description(doc, description):
    files = SHOP | {"src/shop/auth/__init__.py": f'"""{doc}"""\n'}

    assert modules(files)["auth"].description == description


@pytest.mark.parametrize("doc", ["Fast, correct JSON parser.", "The backend of the shop, written in Go."])
def test_a_sentence_without_a_verb_may_describe_a_part(doc):
    files = SHOP | {"src/shop/auth/README.md": f"# auth\n\n{doc}\n"}

    assert modules(files)["auth"].description == doc


def test_a_class_describes_its_own_file_and_no_other():
    docs = {
        "src/shop/auth/login.py": "Base class of all logins.",
        "src/shop/stock/order.py": "What was ordered.",
    }
    files = SHOP | {"src/shop/auth/auth.py": code()}
    alone = {path: text for path, text in SHOP.items() if "/auth/" not in path or path.endswith("login.py")}

    together = modules(files, docs=docs | {"src/shop/auth/auth.py": "Base class."})
    by_itself = modules(alone | {"src/shop/auth/login.py": code(20)}, docs=docs)

    assert "Base class" not in together["auth"].description
    assert by_itself["auth"].description == "Base class of all logins."


def test_ci_and_steps_of_a_readme_are_no_descriptions():
    files = SHOP | {
        ".github/workflows/ci.yml": "",
        ".github/README.md": "# Shop\n\nA till for small stores that works offline.\n",
        "docs/README.md": "## Start\n\nMake a cache directory first:\n\n```sh\nmkdir .cache\n```\n",
        "docs/index.md": "",
    }

    others = {each.name: each.description for each in scan(scan_input(files)).modules}

    assert (others["CI"], others["docs"]) == ("", "")


def test_a_test_project_of_dotnet_is_no_module():
    files = package(
        "src/Shop/Cart.cs", "src/Shop/Till.cs", "src/Shop.Tests/Fakes.cs", "src/Shop.Tests/CartTests.cs"
    )

    assert not any("Tests" in name for name in modules(files))


def test_a_module_of_which_nothing_is_said_is_told_by_its_files():
    assert modules(SHOP)["auth"].description == "login, sessions, tokens"


def test_a_file_of_declarations_is_told_by_what_it_declares():
    files = SHOP | package("src/shop/types/cart.d.ts", "src/shop/types/till.d.ts", "src/shop/types/mail.d.ts")

    assert modules(files)["types"].description == "cart, mail, till"


def test_no_secret_gets_into_a_description():
    token = "ghp_" + "q7Rk2mX9" * 4 + "aBcd"
    files = SHOP | {"src/shop/auth/__init__.py": f'"""Who may do what with {token}."""\n'}

    assert token not in modules(files)["auth"].description


@pytest.mark.parametrize(
    "test",
    [
        "tests/test_auth.py",
        "tests/auth/test_everything.py",
        "tests/test_login.py",
        "src/shop/auth/test_more.py",
        "src/shop/auth/tests/test_more.py",
    ],
)
def test_a_test_belongs_to_the_module_it_is_named_for_or_stands_in(test):
    found = modules(SHOP | {test: code()})

    assert found["auth"].test_files == (test,)


def test_a_test_belongs_to_the_module_it_uses_most():
    files = SHOP | package(*(f"tests/test_flow{n}.py" for n in range(4)))
    links = {f"tests/test_flow{n}.py": {"src/shop/__init__.py": 2.0} for n in range(4)}
    links["tests/test_flow0.py"] |= {"src/shop/stock/order.py": 3.0}

    assert modules(files, links=links)["stock"].test_files == ("tests/test_flow0.py",)


def test_what_is_no_code_has_its_own_modules():
    files = SHOP | {
        "docs/guide.md": "",
        "examples/tiny.py": "",
        "scripts/release.sh": "",
        ".github/workflows/ci.yml": "",
        "tests/conftest.py": "",
        "tests/helpers.py": "",
        "node_modules/left-pad/index.js": "",
    }

    found = {
        (each.kind, each.name): each.core_files
        for each in scan(scan_input(files)).modules
        if each.kind is not FileRole.CODE
    }

    assert found == {
        (FileRole.TESTS, "tests"): ("tests/",),
        (FileRole.DOCS, "docs"): ("docs/",),
        (FileRole.EXAMPLES, "examples"): ("examples/",),
        (FileRole.TOOLING, "scripts"): ("scripts/",),
        (FileRole.CI, "CI"): (".github/",),
    }


def test_a_package_called_test_that_is_no_test_is_code():
    files = SHOP | package("src/shop/test/__init__.py", "src/shop/test/client.py", "src/shop/test/runner.py")

    assert "test" in modules(files)


def test_console_scripts_and_mains_are_entry_points():
    files = SHOP | {
        "pyproject.toml": '[project]\nname = "shop"\n[project.scripts]\nshop = "shop.auth.login:main"\n',
        "src/shop/auth/__main__.py": "",
    }

    assert modules(files)["auth"].entry_points == ("src/shop/auth/login.py", "src/shop/auth/__main__.py")


def test_dependencies_are_packages_and_not_what_comes_with_the_language():
    files = SHOP | {"pyproject.toml": '[project]\ndependencies = ["PyJWT>=2", "python-dateutil"]\n'}
    outside = {"src/shop/auth/tokens.py": ["os.path", "redis.client", "python_dateutil.tz"]}

    assert modules(files, outside=outside)["auth"].dependencies == ("python-dateutil", "redis")


def test_a_project_does_not_depend_on_itself_where_one_of_its_files_is_missing():
    files = SHOP | {"src/shop/redis.py": "", "pyproject.toml": '[project]\ndependencies = ["redis"]\n'}
    outside = {"src/shop/auth/tokens.py": ["shop.generated_pb2", "redis.client", "jwt"]}

    assert modules(files, outside=outside)["auth"].dependencies == ("jwt", "redis")


def test_related_modules_are_those_with_most_links_between():
    links = {
        "src/shop/billing/tax.py": {"src/shop/stock/order.py": 5.0, "src/shop/auth/login.py": 1.0},
        "src/shop/stock/order.py": {"src/shop/stock/count.py": 9.0},
    }

    assert modules(SHOP, links=links)["billing"].related == ("src/shop/stock", "src/shop/auth")


def test_the_same_files_make_the_same_map_in_whatever_order_they_come():
    backwards = dict(reversed(SHOP.items()))

    assert scan(scan_input(SHOP)) == scan(scan_input(backwards))


@pytest.mark.parametrize(
    "files", [{}, {"README.md": "# Hi"}, {"a.py": ""}, {"x/" * 60 + "a.py": ""}, {"a b/c'd.py": ""}]
)
def test_odd_projects_are_mapped_too(files):
    scan(scan_input(files))


def test_a_test_of_go_may_have_a_version_in_its_name():
    roles = classify_files(["till_go1.21_test.go", "till.go"], ())

    assert [role for role, _ in roles.values()] == [FileRole.TESTS, FileRole.CODE]


def test_go_keeps_its_packages_in_a_folder_called_pkg():
    files = package(*(f"pkg/{name}/{name}.go" for name in ("api", "store", "queue")), "cmd/shop/main.go")
    files |= package("tools/release.go", "go.mod")

    found = modules(files)

    assert {"api", "store", "queue"} <= {name.rpartition("/")[2] for name in found}
    assert list(modules(files, FileRole.TOOLING)) == ["tools"]


def test_a_folder_called_like_tooling_that_has_most_of_the_code_is_code():
    files = package(*(f"tools/{name}.py" for name in ("lint", "build", "sign")), "setup.py")

    assert list(modules(files, FileRole.TOOLING)) == []
    assert list(modules(files)) == ["tools"]


def test_examples_and_tests_of_types_are_no_modules_of_code():
    files = {
        "go.mod": "module example.org/chi/v5\n",
        "mux.go": code(9),
        "_examples/rest/go.mod": "module example.org/rest\n",
        "_examples/rest/main.go": code(9),
        "test-d/pipe.test-d.ts": code(9),
    }

    found = scan(scan_input(files))

    assert [module.name for module in found.modules if module.kind is FileRole.CODE] == ["chi"]
    assert [tools.path for tools in found.tools] == [""]


@pytest.mark.parametrize(
    "text, description",
    [
        ("// A trick for editors.\ntype Trick<T> = T;\n", "Cart, Till"),
        ("/** A trick for editors. */\nexport type Trick<T> = T;\n", "Cart, Till"),
        ('import x from "x";\n\n/** What a cart may have. */\n\nconst y = 1;\n', "Cart, Till"),
        ("// Types for every till.\n\ntype Trick<T> = T;\n", "Types for every till."),
        ("/** Types for every till. */\nimport x from 'x';\n", "Types for every till."),
        ("/** What a cart may have. */\n\nexport type Cart = {};\n", "Cart, Till"),
        ("/** @file Types for every till. */\nclass Till {}\n", "Types for every till."),
    ],
)
def test_the_comment_of_a_definition_does_not_describe_its_file(text, description):
    files = package("lib/cart.js", "lib/till.js", "lib/mail.js") | {"typings/index.d.ts": text + code(4)}

    found = modules(files, names={"typings/index.d.ts": ["Cart", "Till"]})

    assert found["typings"].description == description


def test_the_label_of_a_link_stands_for_the_link():
    path = "src/main/java/org/shop/{}"
    files = package(*(path.format(f"till/{name}.java") for name in "ABC"), path.format("cart/D.java"))
    files[path.format("till/package-info.java")] = (
        "/**\n Prices of all goods.\n {@link org.shop.till.Till Till sums them up.}\n */\npackage org.shop.till;\n"
    )
    files[path.format("cart/package-info.java")] = "/** Carts of {@code a b} and {@link #till}. */\n"

    found = modules(files)

    assert found["till"].description == "Prices of all goods."
    assert found["cart"].description == "Carts of a b and till."


def test_one_file_of_many_does_not_describe_the_module():
    files = SHOP | {"src/shop/auth/base.py": '"""Base classes of all logins."""\n'}

    assert modules(files)["auth"].description == "login, sessions, tokens, base"


def test_the_readme_describes_the_package_of_the_project():
    files = {
        "go.mod": "module example.org/shop\n",
        "shop.go": code(9),
        "till.go": code(9),
        "README.md": "# Shop\n\nShop is a till for small stores.\n",
    }

    assert modules(files)["shop"].description == "Shop is a till for small stores."


@pytest.mark.parametrize(
    "sentence",
    [
        "For MySQL and MariaDB, also follow [these instructions](#more).",
        "Java tooling is often excellent.",
        "Acme is pleased to support the community by making Shop available.",
    ],
)
def test_steps_and_opinions_of_a_readme_describe_nothing(sentence):
    files = {"go.mod": "module example.org/shop\n", "shop.go": code(9), "till.go": code(9)}
    files["README.md"] = f"# Shop\n\n{sentence}\n"

    assert modules(files)["shop"].description == "shop, till"


def test_of_a_file_in_go_the_exported_names_are_listed():
    files = {"go.mod": "module example.org/shop\n", "shop.go": code(9), "till/till.go": code(9)}

    found = modules(files, names={"till/till.go": ["reset", "Till", "factory", "Open"]})

    assert found["till"].description == "Till, Open"


def test_benchmarks_are_tooling_and_what_python_has_is_no_dependency():
    files = SHOP | {"performance/benchmark.py": code(9)}

    found = modules(files, outside={"src/shop/auth/tokens.py": ["cProfile", "redis"]})

    assert found["auth"].dependencies == ("redis",)
    assert list(modules(files, FileRole.TOOLING)) == ["performance"]


def test_a_header_belongs_to_its_source():
    names = ("cart", "count", "list", "mail", "pay", "queue", "tax", "till")
    files = package(*(f"src/{name}{end}" for name in names for end in (".cpp", ".h")), "include/shop.h")

    assert set(modules(files)["till"].core_files) == {"src/till.cpp", "src/till.h"}


def test_a_module_that_is_a_file_is_named_by_its_path_without_the_ending():
    files = package(*(f"src/part{number}.c" for number in range(44)), kilobytes=12)
    files |= package(*(f"include/shop/{number}.h" for number in range(10)), kilobytes=40)

    found = modules(files)

    assert "src/part7" in found
    assert not any(name.endswith(".c") for name in found)


def test_a_link_of_rust_is_read_without_its_brackets():
    files = {"Cargo.toml": '[package]\nname = "shop"\n', "src/lib.rs": code(9), "src/test.rs": code(9)}
    files["src/lib.rs"] = "//! Prices of [all goods], see `a[0]`\n" + files["src/lib.rs"]

    found = modules(files)

    assert found["shop"].description == "Prices of all goods, see a[0]"
    assert found["shop"].core_files == ("src/lib.rs",)


@pytest.mark.parametrize(
    "doc",
    [
        "Shop namespace.",
        "Available on Vcpkg, Conan and build2.",
        "Beta: expect breaking changes.",
        "Graphs are available at",
        "Starting with version 1.0.0 the shop follows semantic versions.",
        "Check out the till for analytics of shops.",
        "A configuration struct for how the shop searches goods.",
        "The latest version works with tills 8 and 9.",
        "The latest version of the shop, which needs Go.",
        "Small, quick, never wrong.",
        "Caveat emptor: this part returns other codes.",
        "Basically, a till is an easy way to count money.",
        "Whether you're selling or buying goods, it is there.",
        "In production, the host should be set to the real one.",
        "Shop.routes.draw do devise_for :users, controllers: { sessions: 'users' } end",
        "/ __/___ / __/ / /_/_ / / /_ completion of bash",
        "fast_float by Ada Lovelace (Original) fast_float by Alan Turing (Port)",
        "Taken from the till, which is a part of the shop.",
        "Sessions are kept in memory TODO: keep them in Redis.",
    ],
)
def test_what_says_nothing_does_not_describe_a_module(doc):
    files = SHOP | {"src/shop/auth/README.md": f"# auth\n\n{doc}\n"}

    assert modules(files)["auth"].description == "login, sessions, tokens"


def test_a_class_does_not_describe_the_folder_of_its_name():
    files = package(
        *(f"src/Error/{name}.php" for name in ("Error", "LoaderError")), "src/Shop.php", "src/Till.php"
    )
    files["src/Error/Error.php"] = "<?php\n/**\n * Base exception of all.\n */\nclass Error {}\n" + code(9)

    assert modules(files)["Error"].description == "Error, LoaderError"


def test_a_readme_of_examples_or_documents_describes_no_module():
    files = SHOP | {"examples/README.md": "# Examples\n\nThe first one shows how to open a till.\n"}

    assert modules(files, FileRole.EXAMPLES)["examples"].description == ""


def test_helpers_of_tests_are_no_modules_of_code():
    files = SHOP | package("test-helpers/stream.py", "integration_tests/contract.py", kilobytes=20)

    assert sorted(modules(files)) == ["auth", "billing", "shop", "stock"]


@pytest.mark.parametrize(
    "readme",
    [
        "# Shop\n\n## Auth\n\nLogins will fail, plan for it.\n",
        "# Shop\n\n| strategy | premise |\n| --- | --- |\n| **Auth** | Logins will fail. |\n",
        "# Shop\n\n- `auth`: See the wiki for it.\n",
    ],
)
def test_a_section_of_the_readme_is_not_about_the_folder_of_its_name(readme):
    assert modules(SHOP | {"README.md": readme})["auth"].description == "login, sessions, tokens"


def test_names_of_files_are_listed_whatever_they_mean():
    files = SHOP | package(*(f"src/shop/steps/{name}.py" for name in ("run", "install", "see")))

    assert modules(files)["steps"].description == "install, run, see"


def test_a_namespace_or_a_class_does_not_describe_a_file_of_ruby_or_c():
    ruby = package("lib/shop/till.rb", "lib/shop/cart.rb", "lib/shop/mail.rb", kilobytes=20)
    ruby["lib/shop/version.rb"] = "# Tills for all.\nmodule Shop\n" + code(20)
    c = package("src/till.cpp", "src/cart.cpp", "src/mail.cpp", kilobytes=20)
    c["src/errors.h"] = "#pragma once\n// All errors derive from this one\nclass Error {};\n" + code(20)

    named = {"lib/shop/version.rb": ["Shop", "gem_version"], "src/errors.h": ["Error"]}
    docs = {"src/errors.h": "All errors derive from this one"}

    assert modules(ruby, names=named)["version"].description == "Shop, gem_version"
    assert modules(c, names=named, docs=docs)["errors"].description == "Error"


def test_files_below_the_main_folder_alone_are_not_the_project():
    files = {"Cargo.toml": '[package]\nname = "fd-find"\ndescription = "Finds files."\n'}
    files |= package(*(f"src/{name}.rs" for name in ("walk", "cli", "output", "exec")), kilobytes=30)
    files |= {"src/fmt/mod.rs": code(1)}

    described = {name: module.description for name, module in modules(files).items()}

    assert "Finds files." not in described.values()


def test_a_module_keeps_the_underscore_of_its_folder_and_no_directive_describes_it():
    names = ("assertion", "config", "mark")
    files = package(*(f"src/_shop/{name}/{part}.py" for name in names for part in ("a", "b", "c")))
    files |= package("src/shop/__init__.py", "src/_shop/main.py", kilobytes=9)
    files |= {"pyproject.toml": '[project]\nname = "shop"\n'}
    files["src/_shop/config/__init__.py"] = '""".. versionadded:: 8.4\n\nReads settings.\n"""\n'

    found = modules(files)

    assert {"_shop/assertion", "_shop/config", "_shop/mark"} <= set(found)
    assert found["_shop/config"].description == "Reads settings."


@pytest.mark.parametrize(
    "path, manifest, kind",
    [
        ("src/UnitTests/Bug/Maps.cs", "src/UnitTests/UnitTests.csproj", FileRole.TESTS),
        ("src/IntegrationTests/Maps.cs", "src/IntegrationTests/IntegrationTests.csproj", FileRole.TESTS),
        ("src/Benchmark/Engine.cs", "src/Benchmark/Benchmark.csproj", FileRole.TOOLING),
        ("shop-tests-java8/src/A.java", "shop-tests-java8/build.gradle", FileRole.TESTS),
        ("shop-examples/src/A.java", "shop-examples/build.gradle", FileRole.EXAMPLES),
        ("example-maven/src/A.java", "example-maven/pom.xml", FileRole.EXAMPLES),
        ("src/Shop.Docs/doclet.js", "src/Shop.Docs/package.json", FileRole.DOCS),
        ("xtask/src/main.rs", "xtask/Cargo.toml", FileRole.TOOLING),
        ("src/TUnitTests/Shop.cs", "src/TUnitTests/TUnitTests.csproj", FileRole.TESTS),
        ("src/DocumentationExamples/Shop.cs", "src/DocumentationExamples/Doc.csproj", FileRole.EXAMPLES),
        ("custom_impl_test/src/lib.rs", "custom_impl_test/Cargo.toml", FileRole.TESTS),
        ("nuke/Build.cs", "nuke/_build.csproj", FileRole.TOOLING),
        ("packages/docs/.vitepress/theme.ts", "packages/docs/package.json", FileRole.DOCS),
        ("packages/online-playground/main.ts", "packages/online-playground/package.json", FileRole.EXAMPLES),
        ("packages/playground/main.ts", "README.md", FileRole.EXAMPLES),
        ("features/step_definitions/cli_steps.rb", "Gemfile", FileRole.TESTS),
        ("shop/src/commonTest/kotlin/Factory.kt", "shop/build.gradle.kts", FileRole.TESTS),
        ("src/tests/recursive.rs", "Cargo.toml", FileRole.TESTS),
        ("test_features/main.rs", "test_features/Cargo.toml", FileRole.TESTS),
    ],
)
def test_parts_for_tests_examples_and_documents_are_no_code(path, manifest, kind):
    files = {"src/shop/app.py": code(), path: code(), manifest: '{"name": "part"}'}

    assert not any(path in each.core_files for each in modules(files).values())
    assert kind is FileRole.TESTS or modules(files, kind=kind)  # tests may belong to a module


def test_a_namespace_of_php_is_code_whatever_its_name():
    files = package("composer.json", "CI/Reporter.php", "Command/Help.php", "Command/List.php")

    assert "CI" in modules(files)


@pytest.mark.parametrize(
    "doc",
    [
        "The fun way to sell things.",
        '"Describe an order." "It sums its items."',
        "Packages within this module are listed below.",
        "This guide outlines how to sell things.",
        "The focus of the project has been to sell things.",
        "Use beautiful code to generate beautiful code.",
        "Feed of releases: https://example.org/feed",
        "Base class for orders",
    ],
)
def test_a_slogan_a_quotation_or_a_class_does_not_describe_a_package(doc):
    files = {"shop/__init__.py": f"'''{doc}'''", **package("shop/order.py", "shop/price.py", "shop/tax.py")}

    assert doc.strip(".") not in next(iter(modules(files).values())).description


def test_tests_inside_a_file_of_rust_do_not_describe_it():
    files = package(*(f"src/{name}.rs" for name in ("range", "lib", "line", "text", "input")), kilobytes=20)

    found = modules(files, names={"src/range.rs": ["Range", "parse", "test_parse", "tests"]})

    assert found["range"].description == "Range, parse"


def test_a_type_does_not_describe_a_file_of_go():
    files = package(*(f"{name}.go" for name in ("key", "order", "price", "mail", "stock")), kilobytes=20)

    found = modules(files, docs={"key.go": "Key represents a key."}, names={"key.go": ["Key", "Press"]})

    assert found["key"].description == "Key, Press"


def test_a_readme_may_begin_with_the_name_of_its_project():
    readme = "# shop\n\n`shop` is a router for orders.\n\nThe focus has been on speed.\n"
    files = {"README.md": readme, **package("order.go", "price.go")}

    assert next(iter(modules(files).values())).description == "shop is a router for orders."


def test_a_comment_of_c_that_is_about_the_next_line_does_not_describe_the_file():
    text = "/* Copyright */\n\n/* disable warnings about old functions */\n#if defined(OLD)\n#endif\n"
    files = {
        "json.c": text + code(20),
        **package(*(f"{name}.c" for name in ("a", "b", "d", "e")), kilobytes=20),
    }

    found = modules(files, names={"json.c": ["parse", "print"]})

    assert found["json"].description == "parse, print"


def test_the_readme_does_not_describe_a_script_beside_the_project():
    files = {
        "README.md": "# Shop\n\nShop is a system for selling things.\n",
        "pom.xml": "<project/>",
        "bin/docs.sh": "",
        "shop/pom.xml": "<project/>",
        **package(*(f"shop/src/main/java/org/shop/{name}.java" for name in "ABC")),
    }

    assert "selling" not in modules(files)["bin"].description


def test_a_program_called_test_and_files_for_tests_are_no_modules_of_code():
    files = package("redis.c", "net.c", "test.c", "test_files/wait.php", kilobytes=9)

    assert not [name for name in modules(files) if name.startswith("test")]


def test_the_project_does_not_describe_a_script_beside_its_parts():
    parts = {name: f"<project><artifactId>{name}</artifactId></project>" for name in ("core", "till")}
    files = {f"{name}/pom.xml": text for name, text in parts.items()}
    files |= package(*(f"{name}/src/main/java/shop/A{number}.java" for name in parts for number in range(4)))
    files["pom.xml"] = (
        "<project><artifactId>shop</artifactId><description>Sells all goods.</description></project>"
    )
    files |= package("bin/push.sh")

    assert modules(files)["bin"].description != "Sells all goods."


def test_tests_of_dotnet_for_one_purpose_are_no_code():
    files = package("src/Shop/A.cs", "src/Shop.Tests.Aot/Program.cs")

    assert not [name for name in modules(files) if "Tests" in name]


def test_scripts_beside_the_manifest_that_start_tests_and_settings_are_no_modules():
    files = package(
        "package.json",
        "lib/till.js",
        "lib/shelf.js",
        "test.js",
        "test.mjs",
        "test-d/till.ts",
        "vitest.workspace.js",
    )

    roles = classify_files(files, [""])

    assert {path: role for path, (role, _) in roles.items()} == {
        "lib/till.js": FileRole.CODE,
        "lib/shelf.js": FileRole.CODE,
        "test.js": FileRole.TESTS,
        "test.mjs": FileRole.TESTS,
        "test-d/till.ts": FileRole.TESTS,
    }


@pytest.mark.parametrize(
    "text, expected",
    [
        ("//! The whole module is only available on Linux", ""),
        ("//! Till (rhymes with bill)", ""),
        ("//! Tested by till_test.rs.", ""),
        ("//! Building requires a till.", ""),
        ("//! Support for tills; this part needs the crate till.", "Support for tills"),
    ],
)
def test_a_remark_describes_no_module(text, expected):
    files = {
        **package(
            "Cargo.toml", "src/lib.rs", "src/till/a.rs", "src/till/b.rs", "src/stock/c.rs", "src/stock/d.rs"
        ),
        "src/till/mod.rs": text,
    }

    description = modules(files)["till"].description

    assert description == (expected or "a, b")


def test_projects_named_for_samples_are_no_modules_of_code():
    files = package(
        "src/Shop/Shop.csproj",
        "src/Shop/Till.cs",
        "src/Sample.Web/Sample.Web.csproj",
        "src/Sample.Web/Page.cs",
    )

    roles = classify_files(files, ["src/Shop", "src/Sample.Web"])

    assert roles["src/Sample.Web/Page.cs"][0] is FileRole.EXAMPLES
    assert roles["src/Shop/Till.cs"][0] is FileRole.CODE


def test_code_of_documents_and_of_cucumber_is_no_module_of_code():
    files = {
        "shop/till.py": code(9),
        "docs_src/options/first.py": code(9),
        "features/pay.feature": "Feature: Pay\n",
        "features/pay_steps.rb": code(9),
    }

    found = scan(scan_input(files))

    assert [module.name for module in found.modules if module.kind is FileRole.CODE] == ["shop"]


def test_files_of_examples_and_unit_tests_are_no_modules_of_code():
    files = {
        "package.json": "{}",
        "shop.js": code(9),
        "example.js": code(9),
        "example-till.js": code(9),
        "benchmark.js": code(9),
    }
    found = scan(scan_input({**files, "unittests/till.js": code(9)}))

    assert [
        file for module in found.modules if module.kind is FileRole.CODE for file in module.core_files
    ] == ["shop.js"]


def test_a_long_comment_of_a_go_package_is_read_from_its_beginning():
    doc = "// Package till counts money.\n//\n" + "// Its details follow.\n" * 300
    found = modules(
        {"go.mod": "module shop\n", "till/doc.go": f"{doc}package till\n", "till/till.go": code(9)}
    )

    assert found["till"].description == "Package till counts money."


def test_benchmarks_of_a_part_are_tooling():
    files = {
        "Cargo.toml": '[workspace]\nmembers = ["crates/shop"]\n',
        "crates/shop/Cargo.toml": '[package]\nname = "shop"\n',
        **package("crates/shop/src/lib.rs", "crates/shop/src/till.rs", "crates/shop/benches/pay.rs"),
    }

    assert list(modules(files)) == ["shop"]
    assert list(modules(files, FileRole.TOOLING)) == ["benches"]


def test_the_comment_of_a_package_of_go_comes_before_the_readme():
    files = {
        "go.mod": "module example.org/shop\n",
        "README.md": "# Shop\n\nShop is a till for everyone who sells.\n",
        **package("order.go", "price.go"),
        "shop.go": "// Package shop sells orders to customers.\npackage shop\n" + code(4),
    }

    found = modules(files)

    assert found["shop"].description == "Package shop sells orders to customers."


@pytest.mark.parametrize(
    "doc, description",
    [
        ("Auth auth", "login, sessions, tokens"),
        ("Auth is the most robust and powerful guard.", "login, sessions, tokens"),
        ("This class represents a login.", "login, sessions, tokens"),
        ("A login with its keys\nWhenever one is old, it is made anew.", "A login with its keys."),
    ],
)
def test_a_description_says_something_of_the_whole_module(doc, description):
    files = SHOP | {"src/shop/auth/__init__.py": f'"""{doc}"""'}

    assert modules(files)["auth"].description == description


def test_scripts_that_build_are_no_modules():
    files = package("build.gradle.kts", "shop/build.gradle.kts", "shop/src/main/kotlin/Till.kt")

    assert [path for found in modules(files).values() for path in found.core_files] == [
        "shop/src/main/kotlin/Till.kt"
    ]


def test_the_summary_of_a_gem_describes_it():
    spec = "Gem::Specification.new { |s| s.summary = %q{Sells things to customers} }"
    files = {"shop.gemspec": spec, **package("lib/shop.rb")}

    assert modules(files)["shop"].description == "Sells things to customers"


@pytest.mark.parametrize(
    "doc",
    [
        "Stop paying, and return goods!",
        "This is where shop comes into play.",
        "In order to sell, shop has a till.",
    ],
)
def test_a_call_or_a_remark_does_not_describe_a_project(doc):
    files = {
        "go.mod": "module example.org/shop\n",
        "README.md": f"# Shop\n\n{doc}\n",
        **package("a.go", "b.go"),
    }

    assert next(iter(modules(files).values())).description == "a, b"


def test_a_part_of_a_workspace_has_folders_of_its_own_for_tests_and_benchmarks():
    paths = [
        "crates/shop/Cargo.toml",
        *(f"crates/shop/{name}/pay.rs" for name in ("src", "tests", "benches")),
    ]

    roles = classify_files(paths)

    assert [roles[path][0] for path in paths[1:]] == [FileRole.CODE, FileRole.TESTS, FileRole.TOOLING]


def test_an_installer_of_ruby_and_tests_of_types_are_no_code():
    roles = classify_files(["setup.rb", "lib/shop.rb", "typing_tests/test_api.py"], ())

    assert [roles[path][0] for path in roles if roles[path][0] is FileRole.CODE] == [FileRole.CODE]


def test_documents_and_scripts_beside_the_tests_in_src_are_no_code():
    paths = ["src/shop/till.cpp", "src/test/till.cpp", "src/docs/conf.py", "src/scripts/lint/all.py"]

    roles = {path: role for path, (role, _) in classify_files(paths, [""]).items()}

    assert roles["src/docs/conf.py"] is FileRole.DOCS
    assert roles["src/scripts/lint/all.py"] is FileRole.TOOLING
    assert roles["src/shop/till.cpp"] is FileRole.CODE
    assert (
        classify_files([path for path in paths if "test" not in path], [""])["src/docs/conf.py"][0]
        is FileRole.CODE
    )


def test_a_folder_of_shell_scripts_is_no_code_of_a_project_in_another_language():
    paths = ["shop/till.java", "shop/cart.java", "shop/tax.java", "util/docs.sh", "bin/shop.sh"]
    roles = classify_files(paths, [""])

    assert roles["util/docs.sh"][0] is FileRole.TOOLING
    assert roles["bin/shop.sh"][0] is FileRole.CODE
    assert classify_files(["util/docs.sh", "util/push.sh"], [""])["util/docs.sh"][0] is FileRole.CODE


def test_benchmarks_of_java_are_no_code():
    files = package(
        *(
            f"{part}/src/main/java/shop/A{n}.java"
            for part in ("shop", "jmh", "tillbenchmark")
            for n in range(4)
        )
    )
    files |= {f"{part}/build.gradle": "plugins { id 'java' }" for part in ("shop", "jmh", "tillbenchmark")}

    assert list(modules(files)) == ["shop"]


def test_files_outside_the_folder_with_nearly_all_the_code_are_not_named_after_it():
    files = package("src/include/shop.h", kilobytes=200)
    files |= package(*(f"src/comparisons/{name}/main.cpp" for name in ("a", "b", "c", "d")), kilobytes=1)

    found = modules(files)

    assert sorted(found) == ["comparisons", "shop"]


def test_a_part_without_a_manifest_is_named_after_its_own_folder():
    files = {f"till/src/main/java/org/shop/{name}.java": code(9) for name in "ABCD"}
    files |= {f"real-prices/src/main/java/org/shop/{name}.java": code(9) for name in "XYZ"}
    files |= {
        "till/build.gradle": "plugins { id 'java' }",
        "settings.gradle": "include 'till', 'real-prices'",
    }

    assert sorted(modules(files)) == ["real-prices", "till"]


def test_a_comment_for_the_interpreter_describes_nothing():
    files = {
        f"lib/shop/{name}.rb": "# frozen-string-literal: true\n" + code(30)
        for name in ("till", "cart", "mail", "tax")
    }

    assert not any("frozen" in each.description for each in modules(files).values())


def test_the_package_of_the_root_keeps_its_name_beside_a_part_that_is_called_like_it():
    files = {"go.mod": "module example.org/shop\n", "cmd/shop/go.mod": "module example.org/shop/cmd/shop\n"}
    files |= package("shop.go", *(f"cmd/shop/{name}.go" for name in ("main", "serve")))

    assert sorted(modules(files)) == ["cmd/shop", "shop"]


@pytest.mark.parametrize(
    "head",
    ["/*!\n * Charts v4.5\n */", "/**\n * Charts\n * @license MIT\n */", "//! charts.js\n//! license : MIT"],
)
def test_a_copy_of_a_library_among_the_assets_is_no_module(head):
    files = package(*(f"app/shop/{name}.rb" for name in ("till", "cart", "mail")))
    files |= {"app/assets/charts.js": head + code(90), "app/assets/shop.js": "// Draws prices.\n" + code(9)}

    paths = {path for each in modules(files).values() for path in each.core_files}

    assert "app/assets/shop.js" in paths
    assert "app/assets/charts.js" not in paths


def test_a_folder_of_a_package_called_src_is_named_after_itself():
    files = {f"src/TestGeneration/{name}.js": code(9) for name in ("a", "b", "c", "d")} | {"src/Shop.sln": ""}
    files |= {f"src/Shop/{name}.cs": code(9) for name in ("Till", "Cart", "Mail")} | {
        "src/Shop/Shop.csproj": ""
    }

    assert sorted(modules(files)) == ["Shop", "TestGeneration"]


def test_a_script_at_the_root_of_a_project_in_another_language_is_no_module():
    files = package(*(f"src/{name}.cpp" for name in ("till", "cart", "mail")), kilobytes=9)
    files |= {
        "cpplint.py": code(4),
        "build.bash": "",
        "utils/join.py": code(4),
        "CMakeLists.txt": "",
        "README.md": "# Shop\n\nShop is a till for small stores.\n",
    }

    found = modules(files)

    assert not any(
        {"cpplint.py", "build.bash", "utils/join.py"} & {*each.core_files} for each in found.values()
    )
    assert any(
        "shop.py" in each.core_files
        for each in modules({**files, "shop.py": code(4), "setup.py": ""}).values()
    )


def test_tools_of_a_small_package_are_no_code():
    files = {"shop/__init__.py": code(4), "tools/check.py": code(2), "tools/build.sh": "", "tools/run.sh": ""}

    assert list(modules(files)) == ["shop"]


def test_the_terms_of_a_licence_describe_nothing():
    terms = """\
// Copyright 2008, Shop Inc.
//
// Redistribution and use in source and binary forms are permitted provided that the
// terms are met.
//
// Author: Ada

"""
    files = {
        f"src/{name}.cc": terms + "#include <x>\n" + code(30) for name in ("till", "cart", "mail", "tax")
    }

    assert not any("edistribution" in each.description for each in modules(files).values())


def test_a_few_files_at_the_root_are_not_described_as_the_whole_project():
    manifest = {"pyproject.toml": '[project]\nname = "shop"\ndescription = "Sells all goods."\n'}
    files = {**manifest, "probe.py": code(4), "profiler.py": code(4), "shop/__init__.py": code(9)}
    files |= {"shop/till.py": code(9), "shop/cart.py": code(9)}
    beside = next(each for each in scan(scan_input(files)).modules if "probe.py" in each.core_files)
    assert "Sells" not in beside.description
    alone = scan(scan_input({**manifest, "shop.py": code(9), "till.py": code(1)})).modules
    assert any(each.description == "Sells all goods." for each in alone)


@pytest.mark.parametrize(
    "sentence", ["Import Shop into your application to sell.", "The Till project is no longer maintained."]
)
def test_what_a_readme_tells_of_use_or_of_another_project_describes_nothing(sentence):
    assert not says_what_it_is(sentence)


def test_unit_tests_of_c_beside_the_code_are_no_modules():
    files = {f"src/{name}.cc": code(9) for name in ("till", "till_unittest", "cart", "cart_unittest")}
    found = scan(scan_input({"CMakeLists.txt": "project(shop)", **files})).modules
    told = [path for each in found if each.kind is FileRole.CODE for path in each.core_files]
    assert sorted(told) == ["src/cart.cc", "src/till.cc"]
