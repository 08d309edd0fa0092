"""Who may do what to which rows: one table, from which every row-level policy in the database is made.

`ACCESS` has a line for each table: who may read, insert, change and delete its rows. The words in it are the keys of
`RULES`, as SQL. The tenant is not in it: a restrictive policy on every table compares it, so no line can forget it.

    role      private memories   project memories                 team memories   people, tokens, audit
    reader    reads own          reads, if the project is open    reads           –
    member    all of own         reads; writes and deletes own    as project      reads own tokens and audit lines
    admin     all of own         all                              all             all
    owner     as admin
    service   the server's own jobs, never a token: all rows of one tenant

An agent acts with its person's role, at most within the projects of its token: `WITHIN_TOKEN`. "Open" means to that
person: the project is not restricted, or they are a member. docs/decisions/0033-who-may-see-what.md has the reasons.
"""

from typing import NamedTuple

USER = "(SELECT current_setting('recollect.user', true))"
ROLE = "(SELECT current_setting('recollect.role', true))"
TENANT = "(SELECT current_setting('recollect.tenant', true))"
SECRET = "(SELECT current_setting('recollect.secret', true))"  # the hash of what someone signs in with
PROJECTS = (
    "(SELECT current_setting('recollect.projects', true))"  # of the token, as a PostgreSQL array; '' = all
)

_CLOSED = (
    "(SELECT r.project_id FROM restricted_projects r WHERE NOT EXISTS (SELECT 1 FROM project_members p"
    f" WHERE p.project_id = r.project_id AND p.user_id = {USER}))"
)
_SERVICE = f"{ROLE} = 'service'"
_ADMIN = f"{ROLE} IN ('owner', 'admin', 'service')"
_WRITER = f"{ROLE} IN ('owner', 'admin', 'member', 'service')"
_MINE = f"user_id = {USER}"
_OPEN = f"(:project IS NULL OR :project NOT IN {_CLOSED})"
_SHARED = f"(visibility = 'team' OR (visibility = 'project' AND ({_OPEN} OR {_ADMIN})))"
_VISIBLE = f"({_MINE} OR {_SHARED} OR {_SERVICE})"


def _of_memory(column: str, condition: str = "true") -> str:
    """Return the condition for rows of a memory that the reader sees and that meets `condition`."""
    key = "num" if column == "num" else "id"
    return f"EXISTS (SELECT 1 FROM memories m WHERE m.{key} = :table.{column} AND {condition})"


_CHANGEABLE = f"(m.user_id = {USER} OR {_ADMIN})"

# `:table` stands for the table, `:project` for its column with the project.
RULES = {
    "tenant": "true",
    "service": _SERVICE,
    "admin": _ADMIN,
    "mine": f"({_MINE} OR {_SERVICE})",
    "mine, admin": f"({_MINE} OR {_ADMIN})",
    "writer": _WRITER,
    "open": f"({_OPEN} OR {_ADMIN})",
    "writer, open": f"({_WRITER} AND ({_OPEN} OR {_ADMIN}))",
    "visible": _VISIBLE,
    "writer, mine, open": f"(({_WRITER} AND {_MINE} AND {_OPEN}) OR {_SERVICE})",
    "writer, visible": f"({_WRITER} AND {_VISIBLE})",
    "writer, mine; admin, shared": f"({_WRITER} AND ({_MINE} OR ({_ADMIN} AND visibility <> 'private')) OR {_SERVICE})",
    "of visible memory": f"({_SERVICE} OR {_of_memory('num')})",
    "of changeable memory": f"({_SERVICE} OR ({_WRITER} AND {_of_memory('num', _CHANGEABLE)}))",
    "between visible memories": f"({_of_memory('source')} AND {_of_memory('target')})",
    "writer, between visible memories": f"({_WRITER} AND {_of_memory('source')} AND {_of_memory('target')})",
    "writer, own link or end": (
        f"({_WRITER} AND ({_MINE} OR {_ADMIN} OR {_of_memory('source', _CHANGEABLE)}"
        f" OR {_of_memory('target', _CHANGEABLE)}))"
    ),
    "mine or everybody's": f"({_MINE} OR {_SERVICE} OR (user_id = '' AND {_OPEN}))",
    "of visible cluster": (
        "EXISTS (SELECT 1 FROM clusters c WHERE c.id = :table.cluster)"
        f" AND ({_SERVICE} OR {_of_memory('memory')})"
    ),
    "of own cluster": f"EXISTS (SELECT 1 FROM clusters c WHERE c.id = :table.cluster AND (c.{_MINE} OR {_SERVICE}))",
    "mine or shared session": f"({_MINE} OR {_SERVICE} OR (shared AND :project IS NOT NULL AND {_OPEN}))",
    "of visible session": "EXISTS (SELECT 1 FROM sessions s WHERE s.id = :table.session)",
    "mine, admin, or its secret": f"({_MINE} OR {_ADMIN} OR hash = {SECRET})",
    "admin, or its secret": f"({_ADMIN} OR hash = {SECRET})",
}


class Access(NamedTuple):
    """Who may read, insert, change and delete rows of a table. None = the server's role has no such right at all."""

    read: str
    insert: str | None
    update: str | None
    delete: str | None


_OWN = Access("mine", "mine", "mine", "mine")
ACCESS = {
    "change": Access("tenant", "tenant", "tenant", "service"),
    "memories": Access("visible", "writer, mine, open", "writer, visible", "writer, mine; admin, shared"),
    "snippets": _OWN,
    "memory_words": Access("of visible memory", *("of changeable memory",) * 3),
    "vectors": Access("of visible memory", *("of changeable memory",) * 3),
    "memory_tags": Access("of visible memory", *("of changeable memory",) * 3),
    "tags": Access("mine", "mine, admin", "mine", "mine"),  # an admin may tag what others share
    "links": Access(
        "between visible memories",
        "writer, between visible memories",
        "writer, own link or end",
        "writer, own link or end",
    ),
    "clusters": Access("mine or everybody's", "mine", "mine", "mine"),
    "cluster_members": Access("of visible cluster", *("of own cluster",) * 3),
    "projects": Access("open", "writer, open", "writer, open", "admin"),
    "project_keys": Access("open", "writer, open", "writer, open", "writer, open"),
    "restricted_projects": Access("tenant", "admin", "admin", "admin"),
    "project_members": Access("tenant", "admin", "admin", "admin"),
    "settings": _OWN,
    "module_maps": Access("open", "writer, open", "writer, open", "writer, open"),
    "gaps": _OWN,
    "reviews": _OWN,
    "changes": _OWN,
    "change_parts": _OWN,
    "audit": Access("mine, admin", "mine", None, None),
    "sessions": Access("mine or shared session", "mine", "mine", "mine"),
    "session_events": _OWN,
    "findings": Access("of visible session", "mine", "mine", "mine"),
    "messages": _OWN,
    "message_vectors": _OWN,
    "deliveries": _OWN,
    "delivered_items": _OWN,
    "measures": _OWN,
    "timings": _OWN,
    "sidecar_calls": _OWN,
    "tenants": Access("tenant", "service", "admin", "service"),
    "people": Access("tenant", "admin", "admin", "service"),
    "tokens": Access("mine, admin, or its secret", "mine, admin", "mine, admin", "service"),
    "identities": Access("mine, admin, or its secret", "mine, admin", "mine, admin", "service"),
    "invites": Access("admin, or its secret", "admin", "admin, or its secret", "admin"),
    "consents": Access("mine, admin", "mine", "mine", "service"),
    "hidden_memories": _OWN,
    "erasures": Access("mine, admin", "mine", "service", "service"),
    "answers": _OWN,
    "usage": Access("mine, admin", "tenant", "tenant", "service"),
}

# Tables whose rows belong to a project: a token for some projects reaches no rows of others.
OF_PROJECTS = (
    "memories",
    "sessions",
    "messages",
    "gaps",
    "deliveries",
    "projects",
    "module_maps",
    "clusters",
)
WITHIN_TOKEN = f"(coalesce({PROJECTS}, '') = '' OR :project IS NULL OR :project = ANY ({PROJECTS}::text[]))"
# Tables that are read before it is known who asks: by the hash of the secret that they show.
BY_SECRET = ("tokens", "invites", "identities")


def tenant_rule(table: str) -> str:
    """Return the restrictive rule that holds beside every other: only rows of the transaction's tenant."""
    rule = f"tenant = {TENANT}"
    if table in BY_SECRET:
        return f"({rule} OR (coalesce({TENANT}, '') = '' AND hash = {SECRET}))"
    if table == "tenants":
        return f"({rule} OR (coalesce({TENANT}, '') = '' AND {_SERVICE}))"
    return rule


def policies() -> list[str]:
    """Return the statements that give every table its policies and the server's role its grants, as `{server}`."""
    statements: list[str] = []
    for table, access in ACCESS.items():
        statements.append(
            f"CREATE POLICY tenant ON {table} AS RESTRICTIVE USING ({tenant_rule(table)})"
            f" WITH CHECK ({tenant_rule(table)})"
        )
        project = "id" if table == "projects" else "project_id"
        if table in OF_PROJECTS:
            rule = WITHIN_TOKEN.replace(":project", project)
            statements.append(f"CREATE POLICY token ON {table} AS RESTRICTIVE USING {rule} WITH CHECK {rule}")
        for operation, name in zip(("SELECT", "INSERT", "UPDATE", "DELETE"), access, strict=True):
            if name is None:
                continue
            rule = f"({RULES[name].replace(':table', table).replace(':project', project)})"
            clause = {"INSERT": f"WITH CHECK {rule}", "UPDATE": f"USING {rule} WITH CHECK {rule}"}
            statements.append(
                f"CREATE POLICY may_{operation.lower()} ON {table} FOR {operation} "
                + clause.get(operation, f"USING {rule}")
            )
            statements.append(f"GRANT {operation} ON {table} TO {{server}}")
    return statements
