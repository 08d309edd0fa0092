"""Each tool's settings, as its own documentation writes them."""

import pytest

from recollect.memory.seeds.styles import style_seeds


def found(root, files):
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return {seed.content: seed for seed in style_seeds(root)}


@pytest.mark.parametrize(
    "name, text, expected",
    [
        (
            "pyproject.toml",
            "[tool.ruff]\nline-length = 110\n",
            "The line length of Python is set to 110 (ruff).",
        ),
        (
            "ruff.toml",
            "[format]\nquote-style = 'single'\n",
            "Strings in Python are written in single quotes (ruff).",
        ),
        ("ruff.toml", "[lint]\nselect = ['E', 'F', 'I']\n", "Ruff checks the rule sets E, F and I."),
        (
            "pyproject.toml",
            "[tool.black]\nline-length = 99\n",
            "The line length of Python is set to 99 (black).",
        ),
        ("pyproject.toml", "[tool.mypy]\nstrict = true\n", "mypy checks the types, in strict mode."),
        (
            "setup.cfg",
            "[flake8]\nmax-line-length = 90\n",
            "The line length of Python is set to 90 (flake8).",
        ),
        (
            ".prettierrc",
            '{"semi": false, "singleQuote": true, "tabWidth": 2, // wide\n "printWidth": 100}',
            "Prettier formats the code: lines up to 100 characters, indentation of 2 spaces, single quotes and no semicolons.",
        ),
        (
            ".prettierrc",
            "semi: true\nuseTabs: true\n",
            "Prettier formats the code: indentation by tabs and semicolons.",
        ),
        (
            "package.json",
            '{"prettier": {"trailingComma": "none"}}',
            "Prettier formats the code: no trailing commas.",
        ),
        (
            "biome.json",
            '{"formatter": {"indentStyle": "tab", "lineWidth": 120}, "javascript": {"formatter": {"quoteStyle": "single"}}}',
            "Biome formats and lints the code: lines up to 120 characters, indentation by tabs and single quotes.",
        ),
        (".eslintrc.json", '{"extends": ["airbnb", "prettier"]}', "ESLint extends airbnb and prettier."),
        ("eslint.config.js", "export default [];", "ESLint checks the code, as eslint.config.js says."),
        (
            ".editorconfig",
            "root = true\n[*]\nindent_style = space\nindent_size = 4\n[Makefile]\nindent_style = tab\n",
            "Indentation is 4 spaces in all files and tabs in Makefile (.editorconfig).",
        ),
        (
            ".editorconfig",
            "[**]\nindent_style = space\nindent_size = 3\n",
            "Indentation is 3 spaces in all files (.editorconfig).",
        ),
        ("rustfmt.toml", "max_width = 120\n", "The line length of Rust is set to 120 (rustfmt)."),
        (
            "Cargo.toml",
            '[lints.clippy]\nunwrap_used = "deny"\n',
            "Cargo refuses code that breaks the lints unwrap_used (deny).",
        ),
        (
            ".golangci.yml",
            "formatters:\n  enable:\n    - gofumpt\nlinters:\n  enable:\n    - gosec\n    - mirror\n",
            "golangci-lint runs gosec and mirror.",
        ),
        (
            ".editorconfig",
            "[*]\nindent_style = tab\n[*.{md,mdx,yml,yaml,json,toml,html,htm,xml,xsd,xslt,svg,css,scss,less,sass}]\nindent_style = space\n",
            "Indentation is tabs in most files (.editorconfig).",
        ),
        (
            ".golangci.yml",
            "linters:\n  enable:\n    - errcheck\n    - govet\n",
            "golangci-lint runs errcheck and govet.",
        ),
        (
            "checkstyle.xml",
            '<module name="LineLength">\n<property name="max" value="140"/>\n</module>',
            "The line length of Java is set to 140 (Checkstyle).",
        ),
        (
            ".rubocop.yml",
            "Layout/LineLength:\n  Max: 130\n",
            "The line length of Ruby is set to 130 (RuboCop).",
        ),
        (
            ".rubocop.yml",
            "Style/StringLiterals:\n  EnforcedStyle: double_quotes\n",
            "Strings in Ruby are written in double quotes (RuboCop).",
        ),
        (
            "phpcs.xml",
            '<ruleset><rule ref="PSR12"/></ruleset>',
            "PHP_CodeSniffer checks the code against PSR12.",
        ),
        (
            ".clang-format",
            "BasedOnStyle: Google\nIndentWidth: 4\n",
            "clang-format formats C and C++: based on Google and indentation of 4.",
        ),
        (
            ".pre-commit-config.yaml",
            "repos:\n- repo: x\n  hooks:\n  - id: ruff\n  - id: trailing-whitespace\n  - id: mypy\n",
            "Before a commit pre-commit runs ruff and mypy.",
        ),
    ],
)
def test_a_tools_settings_are_conventions(tmp_path, name, text, expected):
    seeds = found(tmp_path, {name: text})

    assert expected in seeds
    assert seeds[expected].kind == "convention"
    assert seeds[expected].source.startswith(name)


def test_a_seed_says_on_which_line_it_stands(tmp_path):
    seeds = found(tmp_path, {"pyproject.toml": "[project]\nname = 'x'\n\n[tool.ruff]\nline-length = 100\n"})

    assert seeds["The line length of Python is set to 100 (ruff)."].source == "pyproject.toml:5"


@pytest.mark.parametrize(
    "name",
    [
        "pyproject.toml",
        "ruff.toml",
        "biome.json",
        ".prettierrc",
        ".eslintrc.json",
        "setup.cfg",
        "Cargo.toml",
        ".editorconfig",
    ],
)
@pytest.mark.parametrize(
    "text", ["", "\x00\x01", "[[[", "{" * 5000, "[tool]\nruff = 3", '{"formatter": []}', "[flake8\n"]
)
def test_a_broken_file_says_nothing(tmp_path, name, text):
    assert found(tmp_path, {name: text}) == {}


@pytest.mark.parametrize(
    "name, text",
    [
        (".rubocop.yml", "Layout/LineLength:\n  Enabled: false\n  Max: 130\n"),
        (".rubocop.yml", "Layout/LineLength:\n  Max: 130 # better 100\n  Enabled: false\n"),
        (".rubocop.yml", "Layout/LineLength:\n  Enabled: false\n\nMetrics/MethodLength:\n  Max: 30\n"),
        (".flake8", "[flake8]\nmax-line-length = 90\nextend-ignore = E501\n"),
    ],
)
def test_a_line_length_that_is_not_checked_is_not_told(tmp_path, name, text):
    assert found(tmp_path, {name: text}) == {}


def test_indentation_of_files_that_are_not_there_is_not_told(tmp_path):
    rules = "[*.proto]\nindent_style = tab\n[*.{cs,vb}]\nindent_size = 4\n"
    (tmp_path / "src").mkdir()
    (tmp_path / "src/Order.cs").touch()

    seeds = found(tmp_path, {".editorconfig": rules})

    assert list(seeds) == ["Indentation is 4 spaces in *.{cs,vb} (.editorconfig)."]


def test_indentation_of_most_files_is_not_told_if_code_may_be_among_the_others(tmp_path):
    many = "{Makefile,go.mod,go.sum,go.work,go.work.sum,*.go,.gitmodules,.gitattributes}"

    assert found(tmp_path, {".editorconfig": f"[*]\nindent_size = 2\n[{many}]\nindent_style = tab\n"}) == {}


def test_indentation_that_is_unset_is_not_told(tmp_path):
    rules = "[*]\nindent_size = 4\n[tests/inputs/*]\nindent_style = unset\nindent_size = unset\n"

    seeds = found(tmp_path, {".editorconfig": rules})

    assert list(seeds) == ["Indentation is 4 spaces in most files (.editorconfig)."]


@pytest.mark.parametrize(
    "rules, expected",
    [
        ("[*.py]\nindent_style = tab\n[*.{py,pyi}]\nindent_size = 4\n", []),
        ("[*]\nindent_style = tab\n[*.py]\nindent_size = 4\n", ["tabs in all files and tabs in *.py"]),
        ("[*.py]\nindent_style = tab\n[*.{py,pyi}]\nindent_style = space\n", []),
    ],
)
def test_sections_of_an_editorconfig_that_share_files_say_no_two_things_of_them(tmp_path, rules, expected):
    (tmp_path / "a.py").write_text("")

    seeds = found(tmp_path, {".editorconfig": rules})

    assert list(seeds) == [f"Indentation is {each} (.editorconfig)." for each in expected]


def test_settings_of_one_linter_are_no_list_of_linters(tmp_path):
    text = "linters:\n  disable:\n    - dupl\nlinters-settings:\n  govet:\n    enable:\n      - sortslice\n"

    assert found(tmp_path, {".golangci.yml": text}) == {}


@pytest.mark.parametrize("section", ["**.rb", "/**.rb", "lib/**.rb", "**/*.rb"])
def test_a_pattern_of_an_editorconfig_may_have_stars_anywhere(tmp_path, section):
    files = {".editorconfig": f"[{section}]\nindent_size = 2\n", "lib/shop.rb": "class Shop\nend\n"}

    assert list(found(tmp_path, files)) == [f"Indentation is 2 spaces in {section} (.editorconfig)."]
