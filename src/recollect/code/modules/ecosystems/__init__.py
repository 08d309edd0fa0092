"""How a package is built, tested, linted, formatted and run, by ecosystem.

A reader gets a folder with a manifest and returns a `PackageInfo`: the tool, its commands, the test framework and
linters.

- `table`: all ecosystems with their manifests, languages and readers
- `package_info`: `PackageInfo`, and helpers to read TOML and JSON that may be broken
- `python`, `node`: Python and JavaScript
- `compiled`: Rust, Go, Maven, Gradle, .NET, C and C++
- `scripted`: Ruby and PHP
"""
