#!/usr/bin/env python3
"""Cut GitHub's own description of its API down to the calls and events that githubtest serves.

    python3 prune.py            writes description.json.gz, description.LICENSE and README.md beside this file
    python3 prune.py --check    says whether they are what it would write

It fetches one exact version of an npm package with the npm on this machine, keeps the operations and events named
below with every schema that they lead to, and drops prose and examples. The result is the same byte for byte wherever
it is made.
"""

import gzip
import hashlib
import io
import json
import pathlib
import subprocess
import sys
import tarfile
import tempfile

PACKAGE, VERSION, LICENCE = "@octokit/openapi", "23.0.2", "MIT"
MEMBER = "package/generated/api.github.com.json"

OPERATIONS = """
GET /app
GET /app/hook/config
GET /app/hook/deliveries
GET /app/hook/deliveries/{delivery_id}
POST /app/hook/deliveries/{delivery_id}/attempts
GET /app/installations
GET /app/installations/{installation_id}
POST /app/installations/{installation_id}/access_tokens
GET /installation/repositories
DELETE /installation/token
GET /orgs/{org}
GET /rate_limit
GET /repos/{owner}/{repo}
GET /repos/{owner}/{repo}/actions/permissions/workflow
GET /repos/{owner}/{repo}/actions/runs
GET /repos/{owner}/{repo}/actions/runs/{run_id}
GET /repos/{owner}/{repo}/actions/runs/{run_id}/jobs
GET /repos/{owner}/{repo}/branches/{branch}
POST /repos/{owner}/{repo}/check-runs
GET /repos/{owner}/{repo}/check-runs/{check_run_id}
PATCH /repos/{owner}/{repo}/check-runs/{check_run_id}
GET /repos/{owner}/{repo}/collaborators/{username}/permission
GET /repos/{owner}/{repo}/commits/{ref}
GET /repos/{owner}/{repo}/commits/{ref}/check-runs
GET /repos/{owner}/{repo}/commits/{ref}/status
GET /repos/{owner}/{repo}/commits/{ref}/statuses
GET /repos/{owner}/{repo}/contents/{path}
GET /repos/{owner}/{repo}/git/ref/{ref}
GET /repos/{owner}/{repo}/installation
PATCH /repos/{owner}/{repo}/issues/comments/{comment_id}
GET /repos/{owner}/{repo}/issues/{issue_number}
GET /repos/{owner}/{repo}/issues/{issue_number}/comments
POST /repos/{owner}/{repo}/issues/{issue_number}/comments
GET /repos/{owner}/{repo}/issues/{issue_number}/labels
POST /repos/{owner}/{repo}/issues/{issue_number}/labels
DELETE /repos/{owner}/{repo}/issues/{issue_number}/labels/{name}
POST /repos/{owner}/{repo}/labels
GET /repos/{owner}/{repo}/pulls
POST /repos/{owner}/{repo}/pulls
GET /repos/{owner}/{repo}/pulls/{pull_number}
PATCH /repos/{owner}/{repo}/pulls/{pull_number}
POST /repos/{owner}/{repo}/pulls/{pull_number}/requested_reviewers
GET /user
GET /users/{username}
"""

EVENTS = """
check-run-completed check-run-created check-suite-completed create delete installation-created
installation-repositories-added issue-comment-created
issue-comment-edited issues-closed issues-edited issues-labeled issues-opened issues-unlabeled label-created ping
pull-request-closed pull-request-edited pull-request-labeled pull-request-opened pull-request-ready-for-review
pull-request-reopened pull-request-review-requested pull-request-synchronize pull-request-unlabeled push
repository-renamed status workflow-run-completed workflow-run-requested
"""

# Prose and what only generators of clients read.
DROPPED = {
    "deprecated", "description", "example", "examples", "externalDocs", "summary", "tags", "title", "x-github", "x-octokit",
    "x-github-breaking-changes", "x-githubEnterpriseOverrides",
}


def fetch():
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["npm", "pack", "--silent", f"{PACKAGE}@{VERSION}"], cwd=folder, check=True, stdout=subprocess.DEVNULL)
        (tarball,) = pathlib.Path(folder).glob("*.tgz")
        with tarfile.open(tarball) as t:
            return t.extractfile(MEMBER).read(), t.extractfile("package/LICENSE").read()


def plain(x, names=False):
    """x without prose; below properties, keys are names and all are kept."""
    if isinstance(x, dict):
        return {k: plain(v, k == "properties" and not names) for k, v in x.items() if names or k not in DROPPED}
    if isinstance(x, list):
        return [plain(v) for v in x]
    return x


def refs(x):
    if isinstance(x, dict):
        for k, v in x.items():
            if k == "$ref":
                yield v
            else:
                yield from refs(v)
    elif isinstance(x, list):
        for v in x:
            yield from refs(v)


def prune(source):
    whole = json.loads(source)
    paths, events, components = {}, {}, {}
    for line in OPERATIONS.split("\n"):
        if line:
            method, path = line.split()
            paths.setdefault(path, {})[method.lower()] = plain(whole["paths"][path][method.lower()])
    for name in EVENTS.split():
        events[name] = plain(whole["x-webhooks"][name]["post"]["requestBody"]["content"]["application/json"]["schema"])
    todo = [*refs(paths), *refs(events)]
    while todo:
        _, _, kind, name = todo.pop().split("/")
        if name in components.get(kind, {}):
            continue
        part = plain(whole["components"][kind][name])
        components.setdefault(kind, {})[name] = part
        todo += refs(part)
    return {
        "openapi": whole["openapi"],
        "info": {"title": "GitHub, as far as redraft calls it", "version": VERSION, "x-source": {
            "package": PACKAGE, "version": VERSION, "licence": LICENCE, "file": MEMBER.removeprefix("package/"),
            "sha256": hashlib.sha256(source).hexdigest()}},
        "paths": paths, "components": components, "x-events": events,
    }


def readme(source, packed, text):
    return f"""# Where description.json.gz comes from

GitHub's own description of its REST API and webhooks, cut down to the calls and events that `githubtest` serves. It is a build
artefact: change `prune.py`, not the file.

| | |
|---|---|
| source | npm package `{PACKAGE}` {VERSION}, `{MEMBER.removeprefix("package/")}` |
| licence | {LICENCE}, as in `description.LICENSE` |
| sha256 of the source | `{hashlib.sha256(source).hexdigest()}` |
| sha256 of description.json.gz | `{hashlib.sha256(packed).hexdigest()}` |
| size | {len(packed)} bytes, {len(text)} unpacked |
| made by | `python3 prune.py`; `python3 prune.py --check` makes it again and compares |

Tests alone link this package. What the description itself has wrong, or does not know, is named with its reason in
`Exceptions` in `openapi.go`.
"""


def main():
    here = pathlib.Path(__file__).parent
    source, licence = fetch()
    text = json.dumps(prune(source), separators=(",", ":"), sort_keys=True).encode()
    pack = io.BytesIO()
    with gzip.GzipFile(filename="", fileobj=pack, mode="wb", compresslevel=9, mtime=0) as z:
        z.write(text)
    packed = pack.getvalue()
    files = {"description.json.gz": packed, "description.LICENSE": licence, "README.md": readme(source, packed, text).encode()}
    for name, want in files.items():
        if "--check" not in sys.argv:
            (here / name).write_bytes(want)
        elif (here / name).read_bytes() != want:
            sys.exit(f"{name} is not what prune.py makes")


if __name__ == "__main__":
    main()
