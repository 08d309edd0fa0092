"""The memory graph in SQLite: from some memories to those one hop away, by link, by tag or by cluster.

A tag that is on many memories says nothing about any of them, so one that has more than `fan_out` others
in the view leads nowhere. Their number comes from the index alone, so that a tag on 50,000 memories
costs no more than one on fifty.
"""

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import recollect.model as m
from recollect.model import MemoryEdge
from recollect.store.hops import BUDGET, LOOKED_AT, affordable, group_names, strongest, through
from recollect.store.sqlite.views import shown_in

if TYPE_CHECKING:
    import apsw

_Pairs = list[Any]  # of a memory and one of its tags or clusters

# A newer memory supersedes an older one, and only the newer is worth walking to.
_LINKS = """
    SELECT j.value, m.id, l.relation, l.weight, 1 FROM json_each(?) j
    CROSS JOIN links l ON l.source = j.value AND l.relation <> 'supersedes'
    CROSS JOIN memories m ON m.id = l.target WHERE {view}
    UNION ALL
    SELECT j.value, m.id, l.relation, l.weight, 0 FROM json_each(?) j
    CROSS JOIN links l ON l.target = j.value CROSS JOIN memories m ON m.id = l.source WHERE {view}
"""

# Joined in the order they are written, so that rows come in the order of the list and of the index, unsorted.
_TAGS_OF = """
    SELECT m.id, t.tag FROM json_each(?) j CROSS JOIN memories m ON m.id = j.value
    CROSS JOIN memory_tags t ON t.num = m.num
"""
_TAG_SIZES = """
    SELECT value, (SELECT count(*) FROM (SELECT 1 FROM memory_tags t WHERE t.tag = value {places} LIMIT ?)) AS size
    FROM json_each(?) ORDER BY size, value
"""
_TAG_MEMBERS = """
    SELECT t.tag, m.id, t.tag FROM json_each(?) j CROSS JOIN memory_tags t ON t.tag = j.value {places}
    CROSS JOIN memories m ON m.num = t.num WHERE {view}
"""

_CLUSTERS_OF = """
    SELECT c.memory, c.cluster FROM json_each(?) j CROSS JOIN cluster_members c ON c.memory = j.value
"""
_CLUSTER_SIZES = """
    SELECT c.id, (SELECT count(*) FROM (SELECT 1 FROM cluster_members x WHERE x.cluster = c.id LIMIT ?)) AS size
    FROM json_each(?) JOIN clusters c ON c.id = value {places} ORDER BY size, c.id
"""
_CLUSTER_MEMBERS = """
    SELECT g.id, m.id, g.label FROM json_each(?) j CROSS JOIN clusters g ON g.id = j.value
    CROSS JOIN cluster_members c ON c.cluster = g.id CROSS JOIN memories m ON m.id = c.memory
    WHERE {view}
"""


def neighbours(
    db: "apsw.Connection",
    view: m.View,
    memory_ids: Sequence[str],
    fan_out: int,
) -> list[MemoryEdge]:
    """Strongest links first, then tags, then clusters; nothing outside the view."""
    sql, params = shown_in(view)
    query = f"SELECT m.id FROM json_each(?) j CROSS JOIN memories m ON m.id = j.value WHERE {sql}"
    inside = [str(row[0]) for row in db.execute(query, (json.dumps(list(memory_ids)), *params))]
    if not inside:
        return []
    here = json.dumps(inside)
    edges = strongest(db.execute(_LINKS.format(view=sql), (here, *params, here, *params)), fan_out)
    most = fan_out * LOOKED_AT
    place = [] if view.all_projects else [view.project_id or ""]

    tags_of: _Pairs = db.execute(_TAGS_OF, (here,)).fetchall()
    left = BUDGET
    if tags_of:
        places = "" if view.all_projects else "AND t.project IN ('', ?)"
        tag_sizes: _Pairs = db.execute(
            _TAG_SIZES.format(places=places), (*place, most + 1, json.dumps(group_names(tags_of)))
        ).fetchall()
        few, left = affordable(tag_sizes, most, left)
        members = db.execute(_TAG_MEMBERS.format(view=sql, places=places), (json.dumps(few), *place, *params))
        edges += through("tag", tags_of, members, fan_out)

    clusters_of: _Pairs = db.execute(_CLUSTERS_OF, (here,)).fetchall()
    if clusters_of:
        places = "" if view.all_projects else "AND (c.project_id IS NULL OR c.project_id = ?)"
        cluster_sizes: _Pairs = db.execute(
            _CLUSTER_SIZES.format(places=places), (most + 1, json.dumps(group_names(clusters_of)), *place)
        ).fetchall()
        few, _ = affordable(cluster_sizes, most, left)
        members = db.execute(_CLUSTER_MEMBERS.format(view=sql), (json.dumps(few), *params))
        edges += through("cluster", clusters_of, members, fan_out)
    return edges
