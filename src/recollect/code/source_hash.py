"""A hash of the code that decides what is stored: other code would have stored something else."""

import hashlib
import marshal
from collections.abc import Iterable
from pathlib import Path

CODE = Path(__file__).parent
_TEXT = CODE.parent / "text"

# Stems are in the index, and a text that newly counts as a secret must go.
WORDS_AND_SECRETS = (
    *(_TEXT / f"{name}.py" for name in ("stem", "words", "redact", "redaction_rules", "secret_values")),
    *(_TEXT / "data").iterdir(),
)


def source_hash(files: Iterable[Path]) -> str:
    """Return a hash of the contents of these files, and of the version of `marshal`, which packs what is stored."""
    digest = hashlib.sha1(usedforsecurity=False)
    for file in sorted(files):
        digest.update(file.read_bytes())
    return f"{marshal.version} {digest.hexdigest()}"
