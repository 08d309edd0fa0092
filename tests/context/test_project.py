"""Which project a folder belongs to."""

import subprocess
from pathlib import Path

import pytest

from fakes import FakeEmbedder
from recollect.context.project import (
    branch_of_its_own,
    declare_subproject,
    identify,
    landed_branches,
    locate,
    trust_key,
)
from recollect.engine import Engine
from recollect.errors import NoSuchFolder
from recollect.store.sqlite.store import SqliteStore


@pytest.fixture
def store(tmp_path):
    store = SqliteStore(tmp_path / "home" / "recollect.db", "ada")
    yield store
    store.close()


def git(folder: Path, *arguments: str) -> None:
    quiet = [
        "-c",
        "user.name=t",
        "-c",
        "user.email=t@t",
        "-c",
        "protocol.file.allow=always",
        "-c",
        "init.defaultBranch=main",
    ]
    subprocess.run(["git", *quiet, *arguments], cwd=folder, check=True, capture_output=True)


def repository(folder: Path, remote: str | None = None) -> Path:
    folder.mkdir(parents=True)
    git(folder, "init")
    (folder / "file").write_text("x")
    git(folder, "add", ".")
    git(folder, "commit", "-m", "first")
    if remote:
        git(folder, "remote", "add", "origin", remote)
    return folder


def project_id(folder: Path, store: SqliteStore) -> str:
    """Look, and remember what was seen, as the first write in a folder does."""
    project, keys = identify(locate(folder), store)
    store.put_project(project, keys)
    return project.id


@pytest.mark.parametrize(
    "url",
    [
        "https://example.org/team/shop.git",
        "https://someone:token@example.org/team/shop",
        "git@example.org:team/shop.git",
        "ssh://git@example.org:2222/team/shop.git",
        "https://EXAMPLE.org/team/shop/",
    ],
)
def test_every_way_to_write_a_remote_is_the_same_project(tmp_path, store, url):
    first = repository(tmp_path / "a", "https://example.org/team/shop.git")
    second = repository(tmp_path / "b", url)

    assert project_id(first, store) == project_id(second, store)


def test_no_credential_of_a_remote_is_kept(tmp_path, store):
    folder = repository(tmp_path / "a", "https://someone:s3cr3t-t0ken@example.org/team/shop.git")

    place = locate(folder)

    assert "s3cr3t" not in repr(place)


def test_subfolders_worktrees_and_clones_share_their_project(tmp_path, store):
    main = repository(tmp_path / "shop", "https://example.org/team/shop.git")
    (main / "src").mkdir()
    git(main, "worktree", "add", "-b", "feature", str(tmp_path / "worktree"))
    git(tmp_path, "clone", str(main), "clone")
    git(tmp_path / "clone", "remote", "set-url", "origin", "https://example.org/team/shop.git")

    ids = {
        project_id(folder, store)
        for folder in (main, main / "src", tmp_path / "worktree", tmp_path / "clone")
    }

    assert len(ids) == 1
    assert locate(tmp_path / "worktree").branch == "feature"
    assert locate(main).branch == "main"


def test_worktrees_and_submodules_have_a_git_directory_that_names_them(tmp_path):
    main = repository(tmp_path / "shop")
    library = repository(tmp_path / "library")
    git(main, "worktree", "add", "-b", "feature", str(tmp_path / "worktree"))
    git(main, "-c", "protocol.file.allow=always", "submodule", "add", str(library), "libs/x")

    assert trust_key(locate(tmp_path / "worktree")) == trust_key(locate(main)) == f"git:{main / '.git'}"
    assert trust_key(locate(main / "libs/x")) == f"git:{main / '.git/modules/libs/x'}"


@pytest.mark.parametrize("way", ["commondir", "file", "link"])
def test_a_folder_that_claims_the_git_directory_of_another_is_not_trusted_with_it(tmp_path, store, way):
    """An archive of a stranger can have any `.git`."""
    trusted = repository(tmp_path / "shop")
    stranger = repository(tmp_path / "stranger") if way == "commondir" else tmp_path / "stranger"
    stranger.mkdir(exist_ok=True)
    if way == "commondir":
        (stranger / ".git/commondir").write_text(f"{trusted}/.git\n")
    elif way == "file":
        (stranger / ".git").write_text(f"gitdir: {trusted}/.git\n")
    else:
        (stranger / ".git").symlink_to(trusted / ".git")

    assert trust_key(locate(stranger)) != trust_key(locate(trusted))
    if way == "commondir":  # git never makes one there
        assert project_id(stranger, store) != project_id(trusted, store)


def test_worktrees_without_a_remote_share_by_gits_common_directory(tmp_path, store):
    main = repository(tmp_path / "shop")
    git(main, "worktree", "add", "-b", "feature", str(tmp_path / "worktree"))

    assert project_id(main, store) == project_id(tmp_path / "worktree", store)


def test_a_submodule_is_a_project_of_its_own(tmp_path, store):
    library = repository(tmp_path / "library", "https://example.org/team/library.git")
    main = repository(tmp_path / "shop", "https://example.org/team/shop.git")
    git(main, "submodule", "add", str(library), "vendor/library")

    assert project_id(main / "vendor" / "library", store) != project_id(main, store)


def test_a_folder_of_a_monorepo_is_a_project_once_it_is_declared(tmp_path, store):
    main = repository(tmp_path / "mono", "https://example.org/team/mono.git")
    web = main / "packages" / "web"
    (web / "src").mkdir(parents=True)
    before = project_id(web, store)
    declared, keys = declare_subproject(locate(web))
    store.put_project(declared, keys)

    after = project_id(web / "src", store)

    assert before == project_id(main, store) == project_id(main / "packages", store)
    assert after == declared.id != before


def test_a_renamed_folder_with_a_remote_stays_the_same_project(tmp_path, store):
    folder = repository(tmp_path / "old-name", "https://example.org/team/shop.git")
    before = project_id(folder, store)

    folder.rename(tmp_path / "new-name")

    assert project_id(tmp_path / "new-name", store) == before


def test_a_project_that_gets_its_remote_later_stays_the_same(tmp_path, store):
    folder = repository(tmp_path / "shop")
    before = project_id(folder, store)

    git(folder, "remote", "add", "origin", "https://example.org/team/shop.git")

    assert project_id(folder, store) == before


def test_another_repository_in_the_same_place_is_another_project(tmp_path, store):
    folder = repository(tmp_path / "shop", "https://example.org/team/shop.git")
    before = project_id(folder, store)

    git(folder, "remote", "set-url", "origin", "https://example.org/other/thing.git")

    assert project_id(folder, store) != before


def test_without_git_it_is_the_folder(tmp_path, store):
    (tmp_path / "a" / "inside").mkdir(parents=True)
    (tmp_path / "b").mkdir()

    assert project_id(tmp_path / "a", store) != project_id(tmp_path / "b", store)
    assert "without git" in locate(tmp_path / "a").why


def test_a_symlinked_folder_is_the_folder_it_leads_to(tmp_path, store):
    folder = repository(tmp_path / "shop")
    (tmp_path / "link").symlink_to(folder)

    assert project_id(tmp_path / "link", store) == project_id(folder, store)


@pytest.mark.parametrize("head", ["", "not a ref", "ref: refs/heads/"])
def test_a_broken_head_is_no_branch(tmp_path, head):
    folder = repository(tmp_path / "shop")
    (folder / ".git" / "HEAD").write_text(head)

    assert not locate(folder).branch


@pytest.mark.parametrize("name", ["missing", "file", "bad\x00name"])
def test_a_folder_that_is_not_there_is_refused_by_name(tmp_path, name):
    (tmp_path / "file").write_text("")

    with pytest.raises(NoSuchFolder):
        locate(tmp_path / name)


@pytest.fixture
def branched(tmp_path):
    """A repository on its branch `feature`, from which nothing was committed yet."""
    folder = repository(tmp_path / "shop")
    git(folder, "checkout", "-b", "feature")
    return folder


def landed(folder: Path) -> set[str]:
    git(folder, "checkout", "main")
    return set(landed_branches(locate(folder), {"feature", "main", "never-there"}) - {"main"})


def test_a_new_branch_has_not_landed(branched):
    assert landed(branched) == set()


@pytest.mark.parametrize("how", [(), ("--no-ff", "--no-edit")])
def test_a_merged_branch_has_landed_also_once_it_is_deleted(branched, how):
    git(branched, "commit", "--allow-empty", "-m", "More")
    before = landed(branched)
    git(branched, "merge", *how, "feature")
    merged = landed(branched)
    git(branched, "branch", "-d", "feature")

    assert (before, merged, landed(branched)) == (set(), {"feature"}, {"feature"})


def test_a_squashed_branch_has_landed_once_it_is_deleted(branched):
    (branched / "new.txt").write_text("new")
    git(branched, "add", ".")
    git(branched, "commit", "-m", "More")
    git(branched, "checkout", "main")
    git(branched, "merge", "--squash", "feature")
    git(branched, "commit", "-m", "More, squashed")
    kept = landed(branched)
    git(branched, "branch", "-D", "feature")

    assert (kept, landed(branched)) == (set(), {"feature"})


def test_a_branch_that_a_remote_still_has_has_not_landed(branched, tmp_path):
    git(branched, "commit", "--allow-empty", "-m", "More")
    git(branched, "update-ref", "refs/remotes/origin/feature", "feature")
    git(branched, "checkout", "main")
    git(branched, "branch", "-D", "feature")

    assert landed(branched) == set()


@pytest.mark.parametrize(
    "branch, own", [("main", None), ("feature", "feature"), ("HEAD", None), (None, None)]
)
def test_what_is_learnt_on_the_default_branch_or_on_none_holds_everywhere(branched, branch, own):
    assert branch_of_its_own(locate(branched), branch) == own


def test_the_remote_says_which_branch_is_the_default(branched):
    git(branched, "update-ref", "refs/remotes/origin/next", "HEAD")
    git(branched, "symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/next")

    assert branch_of_its_own(locate(branched), "next") is None
    assert branch_of_its_own(locate(branched), "main") == "main"


def test_a_merge_is_noticed_while_the_engine_is_open(branched):
    with Engine.open(branched, branched.parent / "home", embedder=FakeEmbedder()) as engine:
        git(branched, "commit", "--allow-empty", "-m", "More")
        engine.remember("The parser is being rewritten", branch="feature")
    git(branched, "checkout", "main")
    with Engine.open(branched, branched.parent / "home", embedder=FakeEmbedder()) as engine:
        before = engine.list()
        git(branched, "merge", "feature")

        assert (before, len(engine.list())) == ((), 1)


def test_memories_of_a_branch_are_seen_on_it_and_where_it_is_merged(tmp_path):
    from recollect import Engine
    from recollect.embed.open import NoEmbedder

    folder = repository(tmp_path / "shop")
    git(folder, "checkout", "-b", "feature")
    (folder / "new").write_text("x")
    git(folder, "add", ".")
    git(folder, "commit", "-m", "work")

    def seen(branch):
        git(folder, "checkout", branch)
        with Engine.open(folder, tmp_path / "home", embedder=NoEmbedder()) as engine:
            return [memory.content for memory in engine.list()]

    with Engine.open(folder, tmp_path / "home", embedder=NoEmbedder()) as engine:
        engine.remember("The parser is being rewritten", branch="feature")
    before = seen("feature"), seen("main")
    git(folder, "merge", "feature")

    assert before == (["The parser is being rewritten"], [])
    assert seen("main") == ["The parser is being rewritten"]


def as_worktree(tmp_path):
    main = repository(tmp_path / "shop", "https://example.org/team/shop.git")
    git(main, "worktree", "add", "-b", "feature", str(tmp_path / "worktree"))
    return (
        main,
        tmp_path / "worktree",
        "same",
        "shop (ID) in FOLDER, a worktree, on branch feature, identified by the remote",
    )


def as_submodule(tmp_path):
    library = repository(tmp_path / "library", "https://example.org/team/library.git")
    main = repository(tmp_path / "shop", "https://example.org/team/shop.git")
    git(main, "submodule", "add", str(library), "vendor/library")
    return (
        main,
        main / "vendor/library",
        "another",
        "library (ID) in FOLDER, a submodule, on branch main, identified by",
    )


def as_monorepo_package(tmp_path):
    main = repository(tmp_path / "mono", "https://example.org/team/mono.git")
    (main / "packages/web").mkdir(parents=True)
    return main, main / "packages/web", "same", "mono (ID) in ROOT, on branch main, identified by the remote"


def as_declared_package(tmp_path):
    from recollect import Engine
    from recollect.embed.open import NoEmbedder

    main, web, *_ = as_monorepo_package(tmp_path)
    with Engine.open(web, tmp_path / "home", embedder=NoEmbedder()) as engine:
        engine.preferences.declare_subproject()
    return (
        main,
        web,
        "another",
        "web (ID) in FOLDER, on branch main, identified by a subproject, packages/web.",
    )


def as_link(tmp_path):
    main = repository(tmp_path / "shop")
    (tmp_path / "link").symlink_to(main)
    return (
        main,
        tmp_path / "link",
        "same",
        "shop (ID) in ROOT, on branch main, identified by the git directory",
    )


def as_folder_without_git(tmp_path):
    (tmp_path / "shop").mkdir()
    (tmp_path / "notes").mkdir()
    return (
        tmp_path / "shop",
        tmp_path / "notes",
        "another",
        "notes (ID) in FOLDER, identified by the folder itself, without git.",
    )


def as_renamed_folder(tmp_path):
    main = repository(tmp_path / "old-name", "https://example.org/team/shop.git")
    git(tmp_path, "clone", str(main), "new-name")
    git(tmp_path / "new-name", "remote", "set-url", "origin", "git@example.org:team/shop.git")
    return (
        main,
        tmp_path / "new-name",
        "same",
        "shop (ID) in FOLDER, on branch main, identified by the remote example.org/team/shop.",
    )


@pytest.mark.parametrize(
    "case",
    [
        as_worktree,
        as_submodule,
        as_monorepo_package,
        as_declared_package,
        as_link,
        as_folder_without_git,
        as_renamed_folder,
    ],
)
def test_every_way_to_stand_somewhere_is_the_right_project_and_the_doctor_explains_it(tmp_path, case):
    from recollect import Engine
    from recollect.embed.open import NoEmbedder

    main, folder, expected, explained = case(tmp_path)

    def register(where):
        with Engine.open(where, tmp_path / "home", embedder=NoEmbedder()) as engine:
            engine.context.register_project()
            return engine.project.id, engine.doctor()[0].finding

    first, _ = register(main)
    second, finding = register(folder)

    explained = explained.replace("ID", second).replace("FOLDER", str(folder)).replace("ROOT", str(main))
    assert (first == second) == (expected == "same")
    assert finding.startswith(explained)


@pytest.mark.parametrize(
    "remote, manifest, name",
    [
        ("https://example.org/team/shop.git", '[project]\nname = "other"\n', "shop"),
        ("https://example.org/team/repo", '[project]\nname = "shop"\n', "shop"),
        ("", '[build-system]\nrequires = []\n[project]\nversion = "1"\nname = "shop"\n', "shop"),
        ("", "", "repo"),
    ],
)
def test_a_project_has_the_name_of_its_remote_or_its_manifest(tmp_path, store, remote, manifest, name):
    folder = repository(tmp_path / "repo", *filter(None, [remote]))
    (folder / "pyproject.toml").write_text(manifest)

    assert identify(locate(folder), store)[0].name == name


@pytest.mark.parametrize(
    "file, text, name",
    [
        ("package.json", '{\n  "name": "@acme/shop",\n  "version": "1"\n}', "shop"),
        ("package.json", '{\n  "private": true,\n  "author": {\n    "name": "Ada"\n  }\n}', "till"),
        ("go.mod", "module github.com/acme/shop/v2\n", "shop"),
        ("Cargo.toml", '[package]\nname = "shop"\n', "shop"),
        ("composer.json", '{\n    "name": "acme/shop"\n}', "shop"),
    ],
)
def test_manifests_of_other_languages_name_a_project_too(tmp_path, store, file, text, name):
    folder = tmp_path / "till"
    folder.mkdir()
    (folder / file).write_text(text)

    assert identify(locate(folder), store)[0].name == name
