"""Clusters are found anew, project by project, the small and the near ones put together."""

from collections.abc import Iterator
from functools import partial

import recollect.model as m
from recollect.memory.maintenance.clusters import find_clusters, join_near
from recollect.memory.maintenance.consolidate.act import CLUSTERS, Act
from recollect.memory.maintenance.consolidate.work import Work


def clusters(work: Work, position: str) -> Iterator[Act]:
    """One that has the members it had is the cluster it was, and is left as it is."""
    projects = sorted({matter.project_id or "" for matter in work.matters()})
    for number, name in enumerate(projects):
        if name >= position:
            work.pace.breathe()
            project = name or None
            view = m.View(work.user_id, project)
            found = join_near(find_clusters(work.store, work.embedder.model, view, project, work.now))
            new, old = ({each.id: each for each in some} for some in (found, work.store.clusters(project)))
            for gone in old.keys() - new.keys():
                yield Act(CLUSTERS, (), "no longer", partial(work.store.drop_cluster, gone), name)
            for made in new.keys() - old.keys():
                cluster = new[made]
                yield Act(CLUSTERS, (), cluster.label, partial(_put, work, cluster), name)
        work.advance((number + 1) / len(projects))


def _put(work: Work, cluster: m.Cluster) -> bool:
    work.store.put_cluster(cluster)
    return True
