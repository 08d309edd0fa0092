import codecs

import pytest

from recollect.code.decoding import decode_source

TEXT = 'name = "Žofie"\nsize = 3\n'


@pytest.mark.parametrize(
    "data",
    [
        TEXT.encode(),
        codecs.BOM_UTF8 + TEXT.encode(),
        TEXT.encode("utf-16"),
        codecs.BOM_UTF16_BE + TEXT.encode("utf-16-be"),
        TEXT.encode("utf-32"),
    ],
)
def test_any_unicode_becomes_utf_8_without_a_mark(data):
    assert decode_source(data) == TEXT.encode()


def test_utf_16_is_known_without_its_mark():
    plain = "def main():\n    pass\n" * 20

    assert decode_source(plain.encode("utf-16-le")) == plain.encode()
    assert decode_source(plain.encode("utf-16-be")) == plain.encode()


def test_what_is_no_unicode_is_taken_for_latin_1():
    assert decode_source("# größer\n".encode("latin-1")) == "# größer\n".encode()


@pytest.mark.parametrize(
    "data", [b"\x7fELF\x02\x01\x00\x00", b"\x89PNG\r\n\x1a\n\x00\x00", bytes(range(256))]
)
def test_what_is_not_text_is_left_out(data):
    assert decode_source(data) is None


def test_half_a_character_at_the_end_is_no_reason_to_fail():
    assert decode_source(codecs.BOM_UTF16_LE + b"a\x00b") == "a\ufffd".encode()
    assert decode_source(codecs.BOM_UTF16_LE + b"\x00\xd8") is not None
    assert decode_source(b"") == b""
