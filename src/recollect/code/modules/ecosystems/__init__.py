"""How a part of a project is built, tested, linted, formatted and run, ecosystem by ecosystem."""
