import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.memory.index.vocabulary import LONGEST, MOST_WORDS, Vocabulary, distances


def everything(_: int) -> bool:
    return True


def asked(vocabulary: Vocabulary, query: str) -> list[str]:
    return [word.text for word in vocabulary.query_words(query, everything)]


def meets(text: str, query: str) -> set[str]:
    """The words of `query` that `text` has."""
    vocabulary = Vocabulary()
    known = set(vocabulary.read(text))
    return {
        word.text
        for word in vocabulary.query_words(query, known.__contains__)
        if any(t in known for t, _ in word.terms)
    }


@pytest.mark.parametrize(
    "text, query, shared",
    [
        ("call parseConfig first", "parse_config", {"parse", "config"}),
        ("call parseConfig first", "parseConfig", {"parseconfig", "parse", "config"}),
        ("see src/auth/login_form.py", "login form", {"login", "form"}),
        ("see src/auth/login_form.py", "auth/login_form.py", {"auth", "login", "form", "py"}),
        ("PostgreSQL 16.2 since 2024-05-01", "postgresql 16.2", {"postgresql", "16.2", "16", "2"}),
        ("PostgreSQL 16.2 since 2024-05-01", "2024-05-01", {"2024-05-01", "2024", "05", "01"}),
        ("the migrations failed", "failing migration", {"failing", "migration"}),
        ("the café’s menu", "cafe menus", {"cafe", "menus"}),
        ("Caroline's dog", "caroline dogs", {"caroline", "dogs"}),
        ("東京で会った", "東京", {"東", "京"}),
        ("a well-known trick", "well known tricks", {"well", "known", "tricks"}),
    ],
)
def test_words_meet_however_they_are_written(text: str, query: str, shared: set[str]) -> None:
    assert meets(text, query) == shared


def test_words_that_say_nothing_are_neither_kept_nor_asked() -> None:
    vocabulary = Vocabulary()

    assert vocabulary.read("What is it that they don't have?") == []
    assert vocabulary.query_words("who are you and what's this", everything) == []


def weights(query: str) -> dict[str, float]:
    return {word.text: word.weight for word in Vocabulary().query_words(query, everything)}


def test_a_name_with_hyphens_counts_as_one_word() -> None:
    assert weights("does the ecommerce-api cache") == {"ecommerce": 0.5, "api": 0.5, "cache": 1.0}


def test_a_word_that_also_stands_alone_counts_in_full() -> None:
    assert weights("which api, the ecommerce-api") == {"api": 1.0, "ecommerce": 0.5}


def test_an_identifier_counts_whole_and_in_each_of_its_parts() -> None:
    assert weights("parse_config of 2024-05-01").keys() == {
        "parse_config",
        "parse",
        "config",
        "2024-05-01",
        "2024",
        "05",
        "01",
    }
    assert set(weights("parse_config of 2024-05-01").values()) == {1.0}


def test_a_query_has_each_word_once_and_not_too_many() -> None:
    vocabulary = Vocabulary()

    assert asked(vocabulary, "cache the cache, Cache!") == ["cache"]
    assert len(asked(vocabulary, " ".join(f"word{i}" for i in range(1000)))) == MOST_WORDS
    assert len(asked(vocabulary, "x" * 100_000)[0]) == LONGEST


@pytest.mark.parametrize(
    "text, query",
    [
        ("authentication", "autentication"),
        ("authentication", "authenticaton"),
        ("authentication", "authentciation"),
        ("migrations", "migrat"),
        ("scheduler", "sched"),
        ("scheduler", "schedler"),
        ("webSocketHandler", "sokcet"),
    ],
)
def test_a_beginning_or_a_slip_finds_the_word(text: str, query: str) -> None:
    assert meets(text, query) == {query}


@pytest.mark.parametrize(
    "text, query",
    [
        ("port", "pork"),  # too short to be called a slip
        ("scheduler", "schadular"),  # 9 letters may have two
        ("cache", "chaos"),
        ("parser", "se"),
        ("port 8080", "8081"),
    ],
)
def test_a_word_too_far_away_is_not_found(text: str, query: str) -> None:
    expected = {query} if query == "schadular" else set()

    assert meets(text, query) == expected


def test_a_known_word_stands_for_itself_only() -> None:
    assert len(vocabulary_of("cache caches cached cacher").query_words("cache", everything)[0].terms) == 1


def test_what_is_like_a_word_counts_less() -> None:
    vocabulary = vocabulary_of("authentication scheduler")

    (begun,) = vocabulary.query_words("sched", everything)
    (slip,) = vocabulary.query_words("autentication", everything)

    assert [share for _, share in begun.terms] == [0.8]
    assert [share for _, share in slip.terms] == [0.7]


def test_words_learnt_later_are_found_as_well() -> None:
    vocabulary = vocabulary_of("scheduler")
    vocabulary.query_words("unknown", everything)

    vocabulary.read("the authentication")

    assert vocabulary.query_words("autentication", everything)[0].terms


def vocabulary_of(text: str) -> Vocabulary:
    vocabulary = Vocabulary()
    vocabulary.read(text)
    return vocabulary


def plain_distance(a: str, b: str) -> int:
    """By the book, with swaps of neighbours."""
    rows = [[i + j if i * j == 0 else 0 for j in range(len(b) + 1)] for i in range(len(a) + 1)]
    for i in range(1, len(a) + 1):
        for j in range(1, len(b) + 1):
            rows[i][j] = min(
                rows[i - 1][j] + 1, rows[i][j - 1] + 1, rows[i - 1][j - 1] + (a[i - 1] != b[j - 1])
            )
            if i > 1 and j > 1 and a[i - 1] == b[j - 2] and a[i - 2] == b[j - 1]:
                rows[i][j] = min(rows[i][j], rows[i - 2][j - 2] + 1)
    return rows[-1][-1]


@given(st.text("abc", max_size=8), st.lists(st.text("abc", max_size=8), max_size=5), st.integers(1, 2))
def test_distances_are_right_up_to_their_limit(word: str, others: list[str], limit: int) -> None:
    found = distances(word, others, limit).tolist()

    assert found == [min(plain_distance(word, other), limit + 1) for other in others]


def test_the_nearest_words_only_are_taken() -> None:
    assert meets("connection", "conection") == {"conection"}
    assert len(vocabulary_of("connection collection").query_words("conection", everything)[0].terms) == 1


def test_a_word_as_long_as_a_file_does_no_harm() -> None:
    vocabulary = vocabulary_of("x" * 100_000)

    assert vocabulary.query_words("y" * 100_000, everything)[0].terms == ()


@given(st.text("abcdefghij", min_size=5, max_size=12), st.data())
def test_every_single_slip_in_a_word_of_five_letters_is_forgiven(word: str, data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(word) - 1))
    kind = data.draw(st.sampled_from(["drop", "add", "change", "swap"]))
    slip = {
        "drop": word[:at] + word[at + 1 :],
        "add": word[:at] + "z" + word[at:],
        "change": word[:at] + "z" + word[at + 1 :],
        "swap": word[:at] + word[at : at + 2][::-1] + word[at + 2 :],
    }[kind]
    if len(slip) < 5:
        return

    assert meets(f"x {word}", slip)


@given(st.text(max_size=200))
def test_any_text_can_be_read_and_finds_itself(text: str) -> None:
    vocabulary = Vocabulary()
    known = set(vocabulary.read(text))

    words = vocabulary.query_words(text, known.__contains__)

    assert {term for word in words for term, _ in word.terms} <= known
    assert all(word.terms == ((word.terms[0][0], 1.0),) for word in words)


def test_several_of_an_abbreviation_are_that_abbreviation():
    vocabulary = Vocabulary()

    many, one = vocabulary.read("PRs and APIs"), vocabulary.read("PR and API")

    assert list(many) == list(one)
