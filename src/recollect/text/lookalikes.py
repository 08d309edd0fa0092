"""Recognise our marks in any spelling that looks the same: other alphabets, joiners, invisible and format characters.

A text is folded before it is compared: decomposed, without accents and what nobody sees, in lower case, with letters
of other alphabets and signs replaced by the ASCII characters they look like.
"""

import re
import unicodedata
from functools import lru_cache

from recollect.model import INJECTED_MARK

_MARK = re.compile(re.escape(INJECTED_MARK))
_BROKEN = INJECTED_MARK.replace("-", " ")

# Letters that look like Latin ones and are not derived from them. Accents, styles and sizes need no entry: they are in
# Unicode's decompositions and names.
_SHAPES = {
    "a": "аɑαａᥲ⍺ꭺ",
    "b": "ЬвꮟᏏ",
    "c": "сϲᴄⲥꮯ",
    "d": "ԁɗᏧꓒ",
    "e": "еєεҽ℮ꬲϵ",
    "g": "ɡցƍ",
    "h": "һհᏂн",
    "i": "іιıɩӏꙇꭵⅰ׀",
    "j": "јϳյ",
    "k": "кκⲕ",
    "l": "ӏⅼǀ|1ןꓲⵏ∣ｌ",
    "m": "мⅿᗰꓟ",
    "n": "пոռηп",
    "o": "оοօσഠ၀੦૦௦౦೦൦๐໐ⲟ0ᴑہ٥۵߀০୦〇◯○",
    "p": "рρⲣᏢ",
    "q": "ԛզ",
    "r": "гᴦⲅꭇꮁ",
    "s": "ѕƽꮪ",
    "t": "тτᎢꓔ",
    "u": "υսᴜʋ",
    "v": "ѵνᴠⅴ",
    "w": "ԝѡωաᴡ",
    "x": "хχⅹ×",
    "y": "уγүყỿʏꭚ",
    "z": "ᴢꮓ",
    "-": "‐‑‒–—―−﹘﹣－˗⁃➖ー一ᅳㅡ",
    "_": "＿‿⁀﹍﹎﹏ˍ",
    "<": "＜﹤‹˂ᐸ❮❰〈⟨⟪《〈",
    ">": "＞﹥›˃ᐳ❯❱〉⟩⟫》〉",
    "/": "／⁄∕╱⧸〳ノ",
}
_LIKE = {char: letter for letter, chars in _SHAPES.items() for char in chars}
_UNSEEN = frozenset("\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")  # letters and signs without a shape
_LETTER = re.compile(
    r"\bLETTER (?:SMALL CAPITAL )?(?:SCRIPT |OPEN |DOTLESS |LONG |TURNED |REVERSED )?([A-Z])\b"
)


def has_mark(text: str) -> bool:
    """Return whether our mark is in the text, in any spelling that looks like it."""
    return INJECTED_MARK in fold(text)


def without_marks(text: str) -> str:
    """Return the text with our mark broken, so that no part of it passes for a fence."""
    if not has_mark(text):
        return text
    folded = [_folded(char) for char in text]
    place = [at for at, letters in enumerate(folded) for _ in letters]  # of each folded character in the text
    pieces, done = [], 0
    for match in _MARK.finditer("".join(folded)):
        pieces += [text[done : place[match.start()]], _BROKEN]
        done = place[match.end() - 1] + 1
    return "".join((*pieces, text[done:]))


def plain_angles(text: str) -> str:
    """Return the text with `<` and `>` for what looks like them, so that whoever escapes tags finds all of them."""
    if text.isascii():
        return text
    return "".join(_LIKE[char] if _LIKE.get(char) in ("<", ">") else char for char in text)


def fold(text: str) -> str:
    """Return the text as it is compared."""
    return text.translate(_FOLDED)


class _Folding(dict[int, str]):
    """What each character is folded to, filled in as characters turn up."""

    def __missing__(self, code: int) -> str:
        folded = _folded(chr(code))
        if len(self) < 20_000:
            self[code] = folded
        return folded


@lru_cache(maxsize=4096)
def _folded(char: str) -> str:
    if char in _LIKE:
        return _LIKE[char]
    if char.isascii():
        return char.lower()
    if char in _UNSEEN or unicodedata.category(char) in ("Cf", "Mn", "Me"):
        return ""
    parts = unicodedata.normalize("NFKD", char)
    if parts != char:
        return "".join(map(_folded, parts))
    lower = char.lower()
    if lower != char and len(lower) == 1:
        return _folded(lower)
    letter = _LETTER.search(unicodedata.name(char, ""))
    if letter and unicodedata.name(char).startswith(("LATIN", "NEGATIVE", "SQUARED", "REGIONAL")):
        return letter[1].lower()
    return "-" if unicodedata.category(char) == "Pd" else char


_FOLDED = _Folding()
