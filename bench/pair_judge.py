"""Trains a model that reads two statements at once, and measures what it adds to the rules: docs/judgement.md, "Measured".

    python -m bench.pair_judge WEIGHTS --minutes 25 --out judge.pt

WEIGHTS is `model.safetensors` of all-MiniLM-L6-v2 with its full precision. Needs `torch`, which the project does not depend on.
It is trained on the groups of all authors but two, and tested on those two and on every set of pairs. The matrix of word
embeddings is left as it is, so that an installed model could share the one of the bundled embedder.
"""

import argparse
import json
import random
import struct
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import nn
from torch.nn import functional

import recollect.embed
from bench import judgement
from bench.verdicts import LABELS
from recollect.embed.open import open_embedder
from recollect.embed.word_pieces import WordPieces
from recollect.llm.protocol import StatementRelation
from recollect.memory.judgement.compare import compare

TESTED = (8, 9)  # authors
LONGEST = 60  # pieces of a statement
BATCH = 32
RATE = 1e-4
THRESHOLDS = (0.8, 0.9, 0.93, 0.95)  # of the probability of a contradiction
# How many of the pairs of a sort are seen in a round; all of those that are not named.
SHARES = {"near": 0.6, "same-contra": 0.3, "same-contra2": 0.3, "same-rel": 0.25, "contra-rel": 0.25}
_BESIDE = {("same", "contra"): 0, ("same", "contra2"): 0, ("same", "rel"): 2, ("contra", "rel"): 2}
_START, _END = 101, 102


class Example(NamedTuple):
    sort: str
    label: int  # a place in `LABELS`
    old: str
    new: str
    cosine: float


class Layer(nn.Module):
    def __init__(self, weights: dict[str, Any], start: str) -> None:
        super().__init__()
        names = (
            "attention.self.query",
            "attention.self.key",
            "attention.self.value",
            "attention.output.dense",
        )
        self.query, self.key, self.value, self.out = (_linear(weights, start + name) for name in names)
        self.inner, self.outer = (
            _linear(weights, start + name) for name in ("intermediate.dense", "output.dense")
        )
        self.first = _norm(weights, f"{start}attention.output.LayerNorm")
        self.second = _norm(weights, f"{start}output.LayerNorm")
        self.drop = nn.Dropout(0.1)

    def forward(self, rows: Any, mask: Any) -> Any:
        query, key, value = (
            each(rows).view(*rows.shape[:2], 12, -1).transpose(1, 2)
            for each in (self.query, self.key, self.value)
        )
        seen = functional.scaled_dot_product_attention(query, key, value, attn_mask=mask)
        rows = self.first(rows + self.drop(self.out(seen.transpose(1, 2).reshape(rows.shape))))
        return self.second(rows + self.drop(self.outer(functional.gelu(self.inner(rows)))))


class PairJudge(nn.Module):
    """MiniLM over "[CLS] a [SEP] b [SEP]", and a head with the three labels."""

    def __init__(self, weights: dict[str, Any]) -> None:
        super().__init__()
        words, places, sides = (
            weights[f"embeddings.{name}_embeddings.weight"] for name in ("word", "position", "token_type")
        )
        self.words, self.places = nn.Embedding.from_pretrained(words), nn.Embedding.from_pretrained(places)
        self.sides = nn.Embedding.from_pretrained(sides, freeze=False)
        self.norm = _norm(weights, "embeddings.LayerNorm")
        self.layers = nn.ModuleList(Layer(weights, f"encoder.layer.{number}.") for number in range(6))
        self.head = nn.Sequential(
            nn.Linear(768, 384), nn.Tanh(), nn.Dropout(0.1), nn.Linear(384, len(LABELS))
        )

    def forward(self, ids: Any, sides: Any) -> Any:
        is_piece = ids != 0
        rows = self.norm(self.words(ids) + self.places.weight[: ids.shape[1]] + self.sides(sides))
        for layer in self.layers:
            rows = layer(rows, is_piece[:, None, None, :])
        mean = (rows * is_piece[..., None]).sum(1) / is_piece.sum(1, keepdim=True)
        return self.head(torch.cat([rows[:, 0], mean], 1).float())


def read_weights(path: Path) -> dict[str, Any]:
    data = path.read_bytes()
    (size,) = struct.unpack("<Q", data[:8])
    described, start = json.loads(data[8 : 8 + size]), 8 + size
    return {
        name.removeprefix("bert."): torch.frombuffer(
            bytearray(data[start + row["data_offsets"][0] : start + row["data_offsets"][1]]),
            dtype=torch.float32,
        ).reshape(row["shape"])
        for name, row in described.items()
        if row.get("dtype") == "F32"
    }


def _linear(weights: dict[str, Any], name: str) -> nn.Linear:
    weight = weights[f"{name}.weight"]
    linear = nn.Linear(weight.shape[1], weight.shape[0])
    linear.load_state_dict({"weight": weight, "bias": weights[f"{name}.bias"]})
    return linear


def _norm(weights: dict[str, Any], name: str) -> nn.LayerNorm:
    norm = nn.LayerNorm(384, eps=1e-12)
    norm.load_state_dict({"weight": weights[f"{name}.weight"], "bias": weights[f"{name}.bias"]})
    return norm


def examples(embedder: Any) -> Iterator[tuple[int, Example]]:
    """Yield the author of each pair of the groups, and the pair. What is nearest in another group holds beside it."""
    projects: dict[tuple[int, int], list[judgement.StatementGroup]] = {}
    for group in judgement.groups():
        projects.setdefault((group.author, group.project), []).append(group)
    for (author, _), groups in projects.items():
        told = [
            (group, sort, text)
            for group in groups
            for sort, text in {"a": group.statement, **group.others}.items()
        ]
        vectors = embedder.embed([text for _, _, text in told])
        cosines = vectors @ vectors.T
        place = {(id(group), sort): number for number, (group, sort, _) in enumerate(told)}
        wanted = {
            ("a", sort): LABELS.index(label) for sort, label in judgement.GROUP_LABELS.items()
        } | _BESIDE
        for group in groups:
            for (one, other), label in wanted.items():
                first, second = place[id(group), one], place[id(group), other]
                sort = other if one == "a" else f"{one}-{other}"
                yield (
                    author,
                    Example(sort, label, told[first][2], told[second][2], float(cosines[first, second])),
                )
        for number, (group, sort, text) in enumerate(told):
            if sort in ("a", "rel"):
                nearest = next(other for other in (-cosines[number]).argsort() if told[other][0] is not group)
                yield author, Example("near", 2, text, told[nearest][2], float(cosines[number, nearest]))


def sets(embedder: Any) -> Iterator[Example]:
    for half in judgement.PAIR_HALVES:
        for pair in judgement.pairs(half):
            one, other = embedder.embed([pair.old, pair.new])
            yield Example(half, LABELS.index(pair.label), pair.old, pair.new, float(one @ other))


def batch(rows: Sequence[Example], turned: Sequence[bool], pieces: WordPieces) -> tuple[Any, Any]:
    texts = []
    for row, turn in zip(rows, turned, strict=True):
        first, second = (
            pieces.encode(text)[1:-1][:LONGEST]
            for text in ((row.new, row.old) if turn else (row.old, row.new))
        )
        ids = [_START, *first, _END, *second, _END]
        texts.append((ids, [0] * (len(first) + 2) + [1] * (len(second) + 1)))
    longest = max(len(ids) for ids, _ in texts)
    filled = np.zeros((2, len(texts), longest), np.int64)
    for number, (ids, sides) in enumerate(texts):
        filled[0, number, : len(ids)], filled[1, number, : len(ids)] = ids, sides
    return torch.from_numpy(filled[0]), torch.from_numpy(filled[1])


def train(model: PairJudge, known: Sequence[Example], pieces: WordPieces, minutes: float) -> None:
    chosen, begin, steps = random.Random(7), time.process_time(), 0
    learnt = [parameter for parameter in model.parameters() if parameter.requires_grad]
    optimizer = torch.optim.AdamW(learnt, lr=RATE, weight_decay=0.01)
    model.train()
    while True:
        rows = [row for row in known if chosen.random() < SHARES.get(row.sort, 1)]
        chosen.shuffle(rows)
        for start in range(0, len(rows), BATCH):
            done = (time.process_time() - begin) / (60 * minutes)
            if done >= 1:
                return
            for group in optimizer.param_groups:
                group["lr"] = RATE * min(1, done / 0.06 + 0.01) * max(0.02, 1 - done)
            part = rows[start : start + BATCH]
            labels = torch.tensor([row.label for row in part])
            with torch.autocast("cpu", torch.bfloat16):
                logits = model(*batch(part, [chosen.random() < 0.5 for _ in part], pieces))
            loss = functional.cross_entropy(logits, labels, label_smoothing=0.05)
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(learnt, 1.0)
            optimizer.step()
            steps += 1
            if steps % 100 == 0:
                print(f"{steps} steps, {done:.0%}, loss {loss.item():.3f}", flush=True)


def judged(model: PairJudge, rows: Sequence[Example], pieces: WordPieces) -> Any:
    """Return the probabilities of the labels, read both ways."""
    model.eval()
    found = []
    with torch.no_grad(), torch.autocast("cpu", torch.bfloat16):
        for start in range(0, len(rows), BATCH):
            part = rows[start : start + BATCH]
            both = [model(*batch(part, [turn] * len(part), pieces)) for turn in (False, True)]
            found.append((sum(both) / 2).float().softmax(1))
    return torch.cat(found).numpy()


def show(rows: Sequence[Example], found: Any) -> None:
    """Print what is called a contradiction, by the rules alone and with the model, of each sort; and what F1 that is."""
    by_rule = [
        compare(row.new, row.old, row.cosine).relation is StatementRelation.CONTRADICTION for row in rows
    ]
    for threshold in (2.0, *THRESHOLDS):
        called, right, true = Counter[str](), Counter[str](), Counter[str]()
        for row, rule, probability in zip(rows, by_rule, found[:, 0], strict=True):
            said = rule or probability >= threshold
            called[row.sort] += said
            right[row.sort] += said and row.label == 0
            true[row.sort] += row.label == 0
        print("rules alone" if threshold > 1 else f"with the model from {threshold}")
        for sort in dict.fromkeys(row.sort for row in rows):
            total = sum(row.sort == sort for row in rows)
            score = 2 * right[sort] / max(1, called[sort] + true[sort])
            print(f"  {sort:12} called {called[sort]:4} of {total:4}, right {right[sort]:4}, F1 {score:.2f}")


def main() -> None:
    options = argparse.ArgumentParser(prog="bench pair_judge", description=__doc__.splitlines()[0])
    options.add_argument("weights", type=Path)
    options.add_argument("--minutes", type=float, default=25, help="of CPU time to train for")
    options.add_argument("--out", type=Path, help="where to keep the trained model")
    given = options.parse_args()
    torch.manual_seed(7)
    torch.set_num_threads(1)
    embedder = open_embedder()
    pieces = WordPieces(Path(recollect.embed.__file__).with_name("vocab.txt"))
    told = list(examples(embedder))
    model = PairJudge(read_weights(given.weights))
    train(model, [row for author, row in told if author not in TESTED], pieces, given.minutes)
    if given.out:
        torch.save(model.state_dict(), given.out)
    wanted = (*judgement.GROUP_LABELS, "near")
    rows = [row for author, row in told if author in TESTED and row.sort in wanted] + list(sets(embedder))
    show(rows, judged(model, rows, pieces))


if __name__ == "__main__":
    main()
