"""How a package is built, tested, linted, formatted and run, by ecosystem. `table` has all of them."""
