"""Clusters of memories with similar meaning, found by HDBSCAN and named by their distinctive words.

A few thousand memories show where the dense regions are. In a larger project only a sample is clustered, always the
same one, and each other memory joins the nearest centre if it is as near as the sample's own members. Time and memory
stay bounded, and the result is deterministic.
"""

import hashlib
import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from heapq import nsmallest
from itertools import islice
from typing import TYPE_CHECKING, Any

import recollect.model as m
from recollect.context.store import Store
from recollect.memory.maintenance.density import dense_regions
from recollect.text.stem import stem
from recollect.text.words import distinctive_words

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Matrix = npt.NDArray[np.float32]

FEWEST = 20  # memories; fewer are not clustered
SMALLEST = 5  # members of a cluster
SAMPLE = 5_000
_NEIGHBOURS = 3  # near ones, itself included, that a memory in a dense region has
_DIMENSIONS = 64  # of the sample, after reduction
_OUTLYING = 10  # percent of a cluster's members that count as outliers
# Mean cosine of members to their centre below which they have little to do with one another. On bench/data/memories.jsonl,
# with 64 dimensions, 44 % of the pairs within a cluster then share a tag; of all pairs 4 % do.
_LOOSEST = 0.6
_FARTHEST = 0.4  # cosine of a member to its centre
_NEAR = 0.9  # cosine of two centres from which their clusters are joined…
_NEAR_IF_SMALL = 0.8  # …if one of them is small
_PAGE = 2_000
RETRIEVALS = 50  # after which clusters are due again


def refresh_clusters(
    store: Store, model: str, view: m.View, project_id: str | None, now: datetime
) -> list[m.Cluster]:
    """Find the clusters of what `view` shows, and replace the project's old ones."""
    made = find_clusters(store, model, view, project_id, now)
    with store.transaction():
        store.log("update", "agent:memory", now, None, {"clusters": len(made), "project": project_id})
        store.put_clusters(project_id, made)
        store.set_setting(project_id, "clustered_at", retrievals(store, project_id))
    return made


def retrievals(store: Store, project_id: str | None) -> int:
    """Return the number of retrievals in the project, as `feedback` counts them."""
    return int((store.setting(project_id, "retrievals") or {}).get("count", 0))


def clusters_due(store: Store, project_id: str | None) -> bool:
    """Return whether `RETRIEVALS` retrievals have passed since the clusters were found."""
    return retrievals(store, project_id) - int(store.setting(project_id, "clustered_at") or 0) >= RETRIEVALS


def find_clusters(
    store: Store, model: str, view: m.View, project_id: str | None, now: datetime
) -> list[m.Cluster]:
    """Return the clusters of what `view` shows, the largest first, without storing them."""
    import numpy as np

    sample = nsmallest(SAMPLE, store.vectors(view, model), key=lambda pair: _lot(pair[0]))
    if len(sample) < FEWEST:
        return []
    ids = [memory_id for memory_id, _ in sample]
    vectors = _matrix(sample)
    groups = _dense(vectors)
    if not groups:
        return []
    centres = np.stack([_centre(vectors[rows]) for rows in groups])
    floors = np.array([_floor(vectors[rows], centre) for rows, centre in zip(groups, centres, strict=True)])
    members = [[ids[row] for row in rows] for rows in groups]
    if len(sample) == SAMPLE:
        for group, others in enumerate(_assign(store.vectors(view, model), set(ids), centres, floors)):
            members[group] += others
    texts = {memory.id: memory.content for memory in store.get_many(ids).values()}
    labels = _labels(
        [[texts[ids[row]] for row in rows if ids[row] in texts] for rows in groups], list(texts.values())
    )
    clusters = [
        m.Cluster(
            _name(project_id, model, names),
            project_id,
            label,
            model,
            _bytes(centre),
            tuple(sorted(names)),
            now,
        )
        for label, centre, names in zip(labels, centres, members, strict=True)
    ]
    return sorted(clusters, key=lambda cluster: (-len(cluster.members), cluster.id))


def join_near(clusters: Sequence[m.Cluster]) -> list[m.Cluster]:
    """Join clusters whose centres are near, under the name of the larger. A small cluster need not be as near."""
    import numpy as np

    joined: list[m.Cluster] = []
    for cluster in sorted(clusters, key=lambda cluster: (-len(cluster.members), cluster.id)):
        centre = np.frombuffer(cluster.centroid, "<f4")
        floor = _NEAR if len(cluster.members) >= 2 * SMALLEST else _NEAR_IF_SMALL
        cosines = [float(np.frombuffer(other.centroid, "<f4") @ centre) for other in joined]
        if not cosines or max(cosines) < floor:
            joined.append(cluster)
        else:
            at = cosines.index(max(cosines))
            joined[at] = _join(joined[at], cluster)
    return joined


def _join(larger: m.Cluster, smaller: m.Cluster) -> m.Cluster:
    import numpy as np

    members = tuple(sorted({*larger.members, *smaller.members}))
    centres = [np.frombuffer(other.centroid, "<f4") * len(other.members) for other in (larger, smaller)]
    return replace(
        larger,
        id=_name(larger.project_id, larger.model, members),
        centroid=_bytes(_centre(np.stack(centres))),
        members=members,
    )


def _lot(memory_id: str) -> bytes:
    """Return a sort key that draws the sample: the same in every run, and independent of age."""
    return hashlib.blake2b(memory_id.encode(), digest_size=8).digest()


def _matrix(pairs: Sequence[tuple[str, bytes]]) -> "Matrix":
    import numpy as np

    size = Counter(len(vector) for _, vector in pairs).most_common(1)[0][0]  # `check` reports other sizes
    blank = bytes(size)
    joined = b"".join(vector if len(vector) == size else blank for _, vector in pairs)
    return np.frombuffer(joined, "<f4").reshape(len(pairs), -1)


def _dense(vectors: "Matrix") -> list[Any]:
    """Return the rows of each dense region whose members are similar, in the order of their first row."""
    import numpy as np

    fewest = max(SMALLEST, round(math.sqrt(len(vectors)) / 4))
    regions = dense_regions(_reduced(vectors), fewest, _NEIGHBOURS)
    groups = [_near(vectors, np.array(rows)) for rows in regions]
    tight = [rows for rows in groups if len(rows) >= SMALLEST and _closeness(vectors[rows]) >= _LOOSEST]
    return sorted(tight, key=lambda rows: int(rows[0]))


def _near(vectors: "Matrix", rows: Any) -> Any:
    """Return the rows near their centre: HDBSCAN follows density and includes distant members."""
    return rows[vectors[rows] @ _centre(vectors[rows]) >= _FARTHEST]


def _reduced(vectors: "Matrix") -> "Matrix":
    """Project the vectors onto their principal components."""
    import numpy as np

    if vectors.shape[1] <= _DIMENSIONS or len(vectors) <= _DIMENSIONS:
        return vectors
    centred = vectors - vectors.mean(axis=0)
    _, axes = np.linalg.eigh(centred.T @ centred)  # in rising order
    main = axes[:, -_DIMENSIONS:]
    main = main * np.where(main[np.abs(main).argmax(axis=0), np.arange(_DIMENSIONS)] < 0, -1, 1)
    reduced = np.asarray(centred @ main, np.float32)
    reduced /= np.maximum(np.linalg.norm(reduced, axis=1, keepdims=True), 1e-12)
    return reduced


def _centre(vectors: "Matrix") -> "Matrix":
    import numpy as np

    mean = vectors.mean(axis=0)
    return np.asarray(mean / max(float(np.linalg.norm(mean)), 1e-12), np.float32)


def _closeness(vectors: "Matrix") -> float:
    """Return the mean cosine of the members to their centre."""
    return float((vectors @ _centre(vectors)).mean())


def _floor(vectors: "Matrix", centre: "Matrix") -> float:
    """Return the cosine that another vector needs to join: that of nearly all members."""
    import numpy as np

    return max(_LOOSEST, float(np.percentile(vectors @ centre, _OUTLYING)))


def _assign(
    vectors: Iterable[tuple[str, bytes]], known: set[str], centres: "Matrix", floors: Any
) -> list[list[str]]:
    """Return for each centre the ids of vectors, apart from `known`, that are nearest to it and near enough."""
    import numpy as np

    assigned: list[list[str]] = [[] for _ in centres]
    new = ((name, vector) for name, vector in vectors if name not in known)
    while page := list(islice(new, _PAGE)):
        scores = _matrix(page) @ centres.T
        nearest = scores.argmax(axis=1)
        inside = scores[np.arange(len(page)), nearest] >= floors[nearest]
        for row in np.flatnonzero(inside):
            assigned[nearest[row]].append(page[row][0])
    return assigned


def _labels(groups: Sequence[Sequence[str]], everything: Sequence[str]) -> list[str]:
    """Return up to three words for each group that many of its texts have and few others."""
    overall = Counter(term for text in everything for term in _terms(text))
    return [
        _label(Counter(t for text in texts for t in _terms(text)), texts, overall, len(everything))
        for texts in groups
    ]


def _label(inside: Counter[str], texts: Sequence[str], overall: Counter[str], total: int) -> str:
    def tells(term: str) -> float:
        return inside[term] * math.log((1 + total) / overall[term])

    common = [term for term in inside if inside[term] >= max(2, 0.15 * len(texts))]
    best = sorted(common, key=lambda term: (-tells(term), term))[:3]
    spelled = Counter(word for text in texts for word in distinctive_words(text))
    return " ".join(
        max((w for w in sorted(spelled) if stem(w) == term), key=spelled.__getitem__) for term in best
    )


def _terms(text: str) -> set[str]:
    return {stem(word) for word in distinctive_words(text)}


def _bytes(centre: "Matrix") -> bytes:
    return bytes(centre.astype("<f4").tobytes())


def _name(project_id: str | None, model: str, members: Iterable[str]) -> str:
    """Return an id that depends on the members alone."""
    return m.fingerprint(" ".join((project_id or "", model, *sorted(members))))[:18]
