"""The memory graph in PostgreSQL: from some memories to those one hop away, by link, by tag or by cluster.

A tag that is on many memories says nothing about any of them, so one that has more than `fan_out` others
in the view leads nowhere. Their number comes from the index alone, so that a tag on 50,000 memories
costs no more than one on fifty.
"""

from collections.abc import Sequence
from typing import Any

import recollect.model as m
from recollect.model import MemoryEdge
from recollect.store.hops import BUDGET, LOOKED_AT, affordable, group_names, strongest, through
from recollect.store.postgres.connection import Connection
from recollect.store.postgres.views import shown_in

_Pairs = list[Any]  # of a memory and one of its tags or clusters

# A newer memory supersedes an older one, and only the newer is worth walking to.
_LINKS = """
    SELECT l.source, m.id, l.relation, l.weight, 1 FROM links l JOIN memories m ON m.id = l.target
    WHERE l.source = ANY (%s) AND l.relation <> 'supersedes' AND {view}
    UNION ALL
    SELECT l.target, m.id, l.relation, l.weight, 0 FROM links l JOIN memories m ON m.id = l.source
    WHERE l.target = ANY (%s) AND {view}
"""
_TAGS_OF = "SELECT m.id, t.tag FROM memories m JOIN memory_tags t ON t.num = m.num WHERE m.id = ANY (%s) ORDER BY m.id, t.tag"
_TAG_SIZES = """
    SELECT value, (SELECT count(*) FROM (SELECT 1 FROM memory_tags t WHERE t.tag = value {places} LIMIT %s) few) AS size
    FROM unnest(%s::text[]) value ORDER BY size, value
"""
_TAG_MEMBERS = """
    SELECT t.tag, m.id, t.tag FROM memory_tags t JOIN memories m ON m.num = t.num
    WHERE t.tag = ANY (%s) {places} AND {view} ORDER BY t.tag, m.num
"""
_CLUSTERS_OF = (
    "SELECT c.memory, c.cluster FROM cluster_members c WHERE c.memory = ANY (%s) ORDER BY c.memory, c.cluster"
)
_CLUSTER_SIZES = """
    SELECT c.id, (SELECT count(*) FROM (SELECT 1 FROM cluster_members x WHERE x.cluster = c.id LIMIT %s) few) AS size
    FROM clusters c WHERE c.id = ANY (%s) {places} ORDER BY size, c.id
"""
_CLUSTER_MEMBERS = """
    SELECT g.id, m.id, g.label FROM clusters g JOIN cluster_members c ON c.cluster = g.id
    JOIN memories m ON m.id = c.memory WHERE g.id = ANY (%s) AND {view} ORDER BY g.id, m.num
"""


def neighbours(
    db: Connection,
    view: m.View,
    memory_ids: Sequence[str],
    fan_out: int,
) -> list[MemoryEdge]:
    """Strongest links first, then tags, then clusters; nothing outside the view."""
    sql, params = shown_in(view)
    query = f"SELECT m.id FROM memories m WHERE m.id = ANY (%s) AND {sql}"
    here = [str(row[0]) for row in db.execute(query, (list(memory_ids), *params))]
    if not here:
        return []
    edges = strongest(db.execute(_LINKS.format(view=sql), (here, *params, here, *params)), fan_out)
    most = fan_out * LOOKED_AT
    place = [] if view.all_projects else [view.project_id or ""]

    tags_of: _Pairs = db.execute(_TAGS_OF, (here,)).fetchall()
    left = BUDGET
    if tags_of:
        places = "" if view.all_projects else "AND t.project IN ('', %s)"
        sizes = db.execute(_TAG_SIZES.format(places=places), (*place, most + 1, group_names(tags_of)))
        few, left = affordable(sizes, most, left)
        members = db.execute(_TAG_MEMBERS.format(view=sql, places=places), (few, *place, *params))
        edges += through("tag", tags_of, members, fan_out)

    clusters_of: _Pairs = db.execute(_CLUSTERS_OF, (here,)).fetchall()
    if clusters_of:
        places = "" if view.all_projects else "AND (c.project_id IS NULL OR c.project_id = %s)"
        sizes = db.execute(_CLUSTER_SIZES.format(places=places), (most + 1, group_names(clusters_of), *place))
        few, _ = affordable(sizes, most, left)
        members = db.execute(_CLUSTER_MEMBERS.format(view=sql), (few, *params))
        edges += through("cluster", clusters_of, members, fan_out)
    return edges
