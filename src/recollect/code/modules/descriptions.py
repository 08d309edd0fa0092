"""One-line descriptions of modules from source files and READMEs."""

import html
import re
from collections.abc import Iterable, Iterator
from itertools import islice, takewhile
from pathlib import PurePosixPath

from recollect.text.sentences import cut_at_word

LONGEST = 120
_LICENCE = re.compile(
    r"copyright|licen[cs]e|redistribut|permission is hereby|permitted provided|warrant(?:y|ies)\b|SPDX|all rights reserved|eslint|istanbul|@flow|@ts-|frozen[-_]string[-_]literal|-\*-|coding[:=]"
    r"|rubocop|jshint|globals? (?:define|module|window|jQuery)\b|shellcheck|vim:|use strict|#!|this file is part of|prettier-ignore|noqa|pylint|^\W*$|^!?\s*\\file\b|is pleased to|generated|module (?:dependencies|exports|variables)|go:build|\+build|<reference",
    re.IGNORECASE,
)
_DOCSTRING = re.compile(r"""\A\s*+(?:#[^\n]*+\n\s*+|(?!))*+[rRuUbB]*(\"{3}|'{3})(.*?)\1""", re.DOTALL)
_BLOCK = re.compile(r"/\*++((?:(?!/\*).)*?)\*/", re.DOTALL)

_CODE = re.compile(
    r"(?m)^(?:module\.|exports|(?:export |public |final |abstract |default |async |static |inline |declare )*"
    r"(?:function|var|let|const|class|interface|enum|record|template|struct|namespace (?!\w+(?:\\\w+)*;)|int|void|typedef|type(?= \w)))\b"
)
_RUBY_NAMESPACE = re.compile(
    r"(?m)^[ \t]*+#[^\n]*\n[ \t]*+module (\w+)"
)  # below a comment, which describes it
_C = frozenset((".c", ".cc", ".cpp", ".cxx", ".h", ".hh", ".hpp", ".hxx"))
_C_CODE = re.compile(
    r"(?m)^#(?:include|pragma|if|define)\b|^namespace\b"
)  # what follows the comment of a file
_SCRIPTS = frozenset((".js", ".jsx", ".mjs", ".cjs", ".ts", ".tsx", ".mts", ".cts"))
_SCRIPT_CODE = re.compile(rf"{_CODE.pattern}|(?m:^import\b)")  # their imports follow the comment of a file
_FILE_TAG = re.compile(r"^@(?:file|fileoverview|overview)\s+")
_OF_FILE = re.compile(r"@(?:file|fileoverview|overview|module|packageDocumentation)\b")


_GO_LINES = 20  # that may name the package: examples in comments have some too


def _go_heads(text: str) -> Iterator[str]:
    """Yield what stands before each line of a Go file that may name its package."""
    found = islice(re.finditer(r"(?m)^package ", text), _GO_LINES)
    return (text[: line.start()] for line in found)


def _comment_above(head: str) -> str:
    """Return the comment at the end of `head`, which is a block or lines without a blank one below them; "" if there is none."""
    if head.rstrip().endswith("*/"):
        begin = head.rfind("/*")
        is_own_line = begin == 0 or head[begin - 1 : begin] == "\n"
        return head[begin:] if begin >= 0 and is_own_line else ""
    lines = head.splitlines(keepends=True)
    above = list(takewhile(lambda line: line.startswith("//"), reversed(lines)))
    return "".join(reversed(above))


def headline(path: str, text: str) -> str:
    """Return the first sentence of the file's own documentation; "" if there is none."""
    ending = PurePosixPath(path).suffix.lower()
    if ending in (".py", ".pyi"):
        found = _DOCSTRING.match(text)
        return first_sentence(found[2]) if found else ""
    if ending == ".rs":
        return first_sentence("\n".join(re.findall(r"(?m)^//! ?(.*)$", text)))
    if ending == ".go":
        return _comment(next(filter(None, map(_comment_above, _go_heads(text))), ""))
    if ending == ".rb" and (space := _RUBY_NAMESPACE.search(text)):
        stem = PurePosixPath(path).stem.replace("_", "").lower()
        return _first(_runs(text, "#")) if space[1].lower() == stem else ""
    if ending in (".rb", ".sh", ".bash", ".ex", ".pl", ".r"):
        return _first(_runs(text, "#"))
    if ending in _C:
        text = _C_CODE.split(text, maxsplit=1)[0]
    header = (_SCRIPT_CODE if ending in _SCRIPTS else _CODE).split(text, maxsplit=1)[0]
    blocks = [
        block[1]
        for block in _BLOCK.finditer(header)
        if not _LICENCE.search(block[1])
        and not (ending in _C and _is_above_code(header[block.end() :]))
        and (
            ending not in _SCRIPTS
            or _OF_FILE.search(block[1])
            or not _is_attached(header, block.end(), text, is_doc=block[0].startswith("/**"))
        )
    ]
    return _first([*_runs(text, "//", ending in _SCRIPTS), *(_undressed(block) for block in blocks)])


def _comment(text: str) -> str:
    if text.startswith("/*"):
        return first_sentence(_undressed(text.strip()[2:].removesuffix("*/")))
    return _first(_runs(text, "//"))


def _is_above_code(rest: str) -> bool:
    """Return whether a comment of C is about the line after it: nothing is between them."""
    return not rest.strip() and rest.count("\n") < 2


def _is_attached(header: str, end: int, text: str, *, is_doc: bool) -> bool:
    """Return whether a comment belongs to the definition after it, not to the file: a doc comment does also across a gap."""
    between = header[end:]
    following = text[len(header) :]
    is_next = not between.strip() and (is_doc or between.count("\n") < 2)
    return is_next and not following.startswith(("import", "module."))


def _runs(text: str, mark: str, is_script: bool = False) -> list[str]:
    """Return the paragraphs of comment lines at the beginning of a file; of a script, without that of a definition."""
    found: list[str] = [""]
    for line in text.splitlines()[:60]:
        bare = line.strip()
        if bare.startswith(mark) and not bare.startswith(f"{mark}!"):
            words = bare.lstrip(mark[0]).strip()
            found[-1:] = [f"{found[-1]}\n{words}"] if words else [found[-1], ""]
        elif bare and not _LICENCE.search(bare):
            if is_script and _CODE.match(bare):
                found[-1] = ""
            break
        else:
            found.append("")
    return found


def _undressed(block: str) -> str:
    lines = [_FILE_TAG.sub("", line.strip().lstrip("*").strip()) for line in block.splitlines()]
    return "\n".join(line for line in lines if not line.startswith("@"))


def _first(paragraphs: Iterable[str]) -> str:
    for paragraph in paragraphs:
        if paragraph.strip() and not _LICENCE.search(paragraph) and (sentence := first_sentence(paragraph)):
            return sentence
    return ""


def first_sentence(text: str) -> str:
    """Return the first sentence without markup, cut if it is long."""
    paragraph = next(filter(None, map(_prose, re.split(r"\n\s*\n|\n\s*[=~*#-]{3,}", text.strip()))), "")
    plain = " ".join(_UNENDED.sub(". ", html.unescape(paragraph)).split())
    plain = re.sub(r"!\[[^\]]{0,300}\]\([^)]{0,500}\)|\[\]\([^)]{0,500}\)", "", plain)
    plain = re.sub(r":(rfc|pep):`(\d+)`", lambda found: f"{found[1].upper()} {found[2]}", plain)
    plain = re.sub(r"`([^`<]{1,200}?)(?:\s*<[^>`]{1,300}>)?`__?(?!\w)", r"\1", plain)  # a link of reST
    plain = re.sub(r"(?<![\w:])`[~!]?\.(?=[A-Z])", "`", plain)  # a link of Sphinx, wherever it leads
    plain = re.sub(
        r"\[([^\]]{0,300})\]\([^)]{0,500}\)|(?::[\w+-]{1,40}){1,3}:`[~!]?\.?([^`<]{0,300})(?:<[^>]{0,300}>)?`|\{@(?:link(?:plain)? [\w.#(),]{1,200} (?=\S)|\w{1,40} #?)([^}]{0,300})\}"
        r"|<see(?:also)? cref=\"(?:\w:)?([^\"]{0,200})\"\s{0,3}/>|<[^>]{1,300}>",
        r"\1\2\3\4",
        plain,
    )
    plain = re.sub(r"(?<![\w\]`])\[([^\[\]]{1,80})\](?:\[[^\]]{0,80}\])?(?!\()", r"\1", plain)
    plain = re.sub(r"\{(#?[A-Z][\w:#.]{0,100})\}", r"\1", plain)  # a link of YARD
    plain = re.sub(r"(?<![\w*])\*(\w[^*]{0,80})\*(?![\w*])", r"\1", plain)
    plain = plain.replace("`", "").replace("**", "").strip(" =#~*-:")
    first = re.split(r"(?<=[.!?])\s+(?=[A-Z\"'(])", plain, maxsplit=1)[0].strip().removesuffix(" ...")
    first = re.split(r";\s+(?:this|it|see|note)\b", first, maxsplit=1)[0]
    if (
        len(first.split()) < 2
        or " = " in first
        or "://" in first
        or _REMARK.match(first)
        or _GAP.search(first)
        or _NAMESPACE.fullmatch(first)
        or _SLOGAN.search(first)
    ):
        return ""
    return cut_at_word(first, LONGEST)


_UNENDED = re.compile(  # a line that ends a sentence without saying so
    r"(?<=[a-z])\n[ \t]*(?=(?:Whenever|When|If|This|These|It|The|You|Also|See|By default)\b)"
)
_SLOGAN = re.compile(  # which sells rather than describes
    r"^your\b|^(?:the )?(?:fun|best|easiest|simplest|fastest|coolest|missing|ultimate|complete solution)\b"
    r"|\b(?:fun,|best friend|on steroids|awesome|delightful|for humans|that you(?:'ll| will) love)|made (?:easy|simple)\b|\bis the (?:most|best|fastest|easiest)\b|\bis (?:pleased|proud|happy|excited) to\b",
    re.I,
)
_REMARK = re.compile(
    r"[\"'“‘]|available (?:on|in|from|at|via|as)\b|(?:tested|used|called|included) (?:by|in|from)\b|building\b|this (?:guide|document|page|readme|tutorial|article|section|is (?:where|why|how|when))\b"
    r"|(?:the|our) (?:focus|goals?|aims?|purpose|idea|motivation|philosophy|vision) |(?:warning|caution|caveat|basically|actually|also|however|we|i|here|because|note|todo|fixme|xxx|hack|deprecated|beta|internal)\b\W",
    re.I,
)
_NAMESPACE = re.compile(  # which its name says as well
    r"(?:the )?\S+ (?:namespace|module|package)\.?|\S+ \([^()]*\)\.?", re.I
)
_GAP = re.compile(
    r"\s[.,;:](?:\s|$)|(?<!\w)\(\s*\)|\b(?:for|of|a|an|the|to|with|by|in) ?\.$|\b(?:at|from|on|of|to|the|a) ?$"
)  # something was left out of the sentence

# Lines of markup that say nothing about what a file is for: directives, fields and targets of reST, tags of other tools.
_DIRECTIVE = re.compile(r"\.\. ?[\w|\[_-]|:[\w -]{1,40}:(?:\s|$)|@\w|\$\w+ |\[\w+\]:|<!--|\{%|\\[a-z]+\b")


def _prose(paragraph: str) -> str:
    """Return the paragraph without directives and what is indented below one."""
    lines: list[str] = []
    is_below = False
    for line in paragraph.splitlines():
        if _DIRECTIVE.match(line.lstrip()):
            is_below = True
        elif not is_below or not line.startswith((" ", "\t")):
            is_below = False
            lines.append(line)
    return "\n".join(lines).strip()


_INSTRUCTION = re.compile(
    r"(?:to (?:build|run|install|test|start|use|get|set)|run|use|select|configure|download|open|follow|install|make sure|clone|check|read|learn|join|try|take|mix|looking|first|please|if you|you (?:can|need|must|should)|see|visit|note|when|if)\b(?!-)|(?:import|add|include) \S{1,60} (?:in)?to your\b",
    re.I,
)


_UNREADY = re.compile(
    r"\b(?:alpha|beta|experimental|breaking changes|deprecated|no longer (?:being )?maintained|work in progress|under construction)\b",
    re.I,
)


_MARKUP = re.compile(r"[#=*<|!\[.:>-]|\d+\.|.*\n[=-]{3,}")
_MOST_PARAGRAPHS = 2  # of prose, that are tried: those after them are about details


def readme_summary(text: str) -> str:
    """Return the first sentence of the first paragraph that is no heading, badge or list; "" if it is a slogan."""
    text = re.sub(r"(?s)<!--(?:(?!<!--).)*?-->|```.*?(?:```|\Z)", "", text)
    paragraphs = (paragraph.strip() for paragraph in re.split(r"\n\s*\n", text))
    prose = (
        each
        for each in paragraphs
        if each and not _MARKUP.match(each) and not each.endswith(":") and not _INSTRUCTION.match(each)
    )
    for paragraph in islice(prose, _MOST_PARAGRAPHS):
        if _SLOGAN.search(" ".join(paragraph.split())):
            return ""  # what follows goes on from there
        if (
            len((sentence := first_sentence(paragraph)).split()) > 3
            # The rest of a sentence whose beginning was markup, unless it begins with a name.
            and (
                not sentence[0].islower()
                or re.match(r"[`*_]{0,3}[\w.-]+[`*_]{0,3} (?:is an?|provides)\b", paragraph)
            )
            and _DEFINES.match(sentence)
            and not _NOT_WHAT.match(sentence)
            and not _OPINION.search(sentence)
            and sentence[-1] not in "!:"
            and not _UNREADY.search(sentence)
        ):
            return sentence
    return ""


_DEFINES = re.compile(  # "Shop is …", "This library lets …", "A till for …", "Fast till of all goods", "The till of the shop, …", "Small, quick server"
    r"(?:\S+ ){1,5}(?:is|are|provides?|implements?|lets|allows|helps|makes|adds|contains?|gives|offers?|enables|extends|brings|supports|wraps"
    r"|reads|converts|generates|displays|loads|parses|aims|consists|includes|collects?|checks|runs|handles)\b|An?\b"
    r"|(?!The\b)[A-Z][\w/-]+(?:,? [\w/-]+){0,5} (?:for|of|to|in|that|which|with|and|from|on)\b"
    r"|The (?!latest|newest|current|rest|source|version|documentation|tests)[\w/-]+(?: [\w/-]+)? (?:of|for) (?:the |an? |our )?[\w/-]+(?:,|\.?$)"
    r"|[A-Z][\w-]+(?:, [\w-]+){1,3}(?: [\w/+-]+){0,3} (?:app|application|bindings|cache|cli|client|compiler|database|engine|formatter"
    r"|framework|implementation|interpreter|library|linter|parser|queue|renderer|router|runtime|server|service|store|toolkit|tool)\.?$",
    re.I,
)
_NOT_WHAT = re.compile(
    r"(?:for|starting|in order to|as of|since|from|after|before|until|today|currently|there|these|those|it|they|each|with)\b",
    re.I,
)


_OPINION = re.compile(
    r"\b(?:is|are) (?:often|usually|sometimes|always|very|quite|really|hard|difficult|important|great)\b",
    re.I,
)


def readme_entry(text: str, name: str) -> str:
    """Return what a README's list or table says about a part, named as code or by its path."""
    called = rf"\[?(?:`(?:[\w./-]*/)?{re.escape(name)}/?`|\*{{0,2}}[\w.-]*/(?:[\w./-]*/)?{re.escape(name)}/?\*{{0,2}})\]?(?:\([^)]*\))?"
    for pattern in (
        rf"(?mi)^\s*[-*]\s+\*{{0,2}}{called}\*{{0,2}}\s*(?:[:—–]|-)\s+(.+)$",
        rf"(?mi)^\|\s*{called}\s*\|\s*([^|]+)\|",
    ):
        if (found := re.search(pattern, text)) and (sentence := first_sentence(found[1])):
            return sentence
    return ""


def says_what_it_is(sentence: str) -> bool:
    """Return whether a sentence may describe a module: it tells the reader to do nothing, and is no remark."""
    return not (
        sentence.endswith("!")
        or _INSTRUCTION.match(sentence)
        or _UNREADY.search(sentence)
        or _ELSEWHERE.search(sentence)
        or _ADDRESS.search(sentence)
        or _NO_PROSE.search(sentence)
        or sum(map(str.isalpha, sentence)) < MOSTLY_LETTERS * len(sentence.replace(" ", ""))
    )


def only_repeats(sentence: str, name: str) -> bool:
    """Return whether a sentence has no word that the name does not have."""
    return {*re.findall(r"[a-z0-9]+", sentence.lower())} <= {*re.findall(r"[a-z0-9]+", name.lower())}


MOSTLY_LETTERS = 0.6  # of a sentence; a drawing or a line of code has fewer
_ADDRESS = re.compile(  # to the reader: an advice, a promise, a question
    r"(?<!lets )(?<!let )(?<!allows )(?<!allow )(?<!helps )(?<!help )(?<!enables )(?<!enable )(?<!gives )\byou(?:rself|'\w+)?\b"
    r"|\b(?:should|must|please|don't|do not|shouldn't)\b|\?$",
    re.I,
)
_NO_PROSE = re.compile(
    r"[{}\U0001f300-\U0001faff]|=>|;$|\b(?:by|author:?) (?-i:[A-Z][\w.]*+ [A-Z]\w)|(?-i:\b(?:TODO|FIXME|XXX)\b)"
    r"|^(?:taken|copied|borrowed|adapted) from\b|\bonly (?:available|compiled|built|used)\b",
    re.I,
)  # code, who wrote it, what is left to do, and when it counts
_ELSEWHERE = re.compile(r"\b(?:(?:listed|described|shown|found|see) )?(?:below|above|the following)\b", re.I)
_OF_ONE_CLASS = re.compile(
    r"(?:this is )?(?:an? |the |abstract )*(?:base|parent|abstract|super) ?class\b|(?:the )?return type of\b"
    r"|(?:this|the) (?:class|struct|interface|trait|enum)\b|this (?!code|crate|directory|folder|library|module|package|project)\w+ (?:does|is|has|will|can)\b"
    r"|(?:an? |the )(?:[\w-]+ ){0,3}(?:struct|class|enum|trait) (?:for|that|which|of|to)\b|\w+ class (?:used|for|that|which)\b",
    re.I,
)


def says_what_one_class_is(sentence: str) -> bool:
    """Return whether a sentence describes a class, which is not all that a module of several files has."""
    return bool(_OF_ONE_CLASS.match(sentence))
