"""fetch mesh: MeSH's descriptors, supplementary concepts and tree, downloaded or copied, verified."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from pathlib import Path

from biorel import artifacts
from biorel.artifacts import Artifact
from biorel.config.fetch_mesh import FetchMesh
from biorel.counts import Counts
from biorel.errors import FetchError, InputError
from biorel.fetch.bulk_files import STATE, Wanted, copy_files, fetch_files, write_state
from biorel.fetch.http import Client
from biorel.fetch.pacing import CLOCK
from biorel.fetch.services import read_service
from biorel.knowledge.mesh_files import read_entries
from biorel.progress import SILENT, Progress
from biorel.resources import resource

_LOCAL = re.compile(r"(?:desc|supp|mtrees)\d{4}\.\w+(?:\.gz)?|\d{4}MeshTree\.\w+(?:\.gz)?", re.IGNORECASE)


def run(config: FetchMesh, progress: Progress = SILENT) -> Artifact:
    """Bring MeSH's files into the folder `config.out`.

    Raises:
        FetchError: NLM does not answer, or has no such year there.
        InputError: a local file is missing, damaged or not MeSH.
    """
    service = read_service(resource("services.toml"), "mesh", config.url)
    year = config.year or datetime.now(tz=UTC).year
    resume = "" if config.source is not None else STATE
    with artifacts.folder("fetch mesh", config.options(), config.out, force=config.force, resume=resume) as output:
        if config.source is not None:
            files = [Wanted(path.name, (), check=_check) for path in _local(config.source)]
            entries = copy_files(files, output.path, config.source, output.counts)
        else:
            if not output.resumed:
                write_state(output.path, {})
            files = [
                Wanted(file.name.format(year=year), (f"{service.url}/{file.path.format(year=year)}",), check=_check)
                for file in service.files
            ]
            client = Client(service, clock=CLOCK, tell=progress.line)
            try:
                entries = fetch_files(files, output.path, client, output.counts)
            except FetchError as error:
                older = f"{service.url.rpartition('/')[0]}/{year}"
                moved = f"NLM moves a year when the next is out: try --url {older}"
                raise FetchError(error.message, moved if "HTTP 404" in error.message else error.hint) from error
        output.notes["files"] = [entry.to_json() for entry in entries]
        output.notes["year"] = year if config.source is None else None
        (output.path / STATE).unlink(missing_ok=True)
        named = " ".join(f"--mesh {config.out / entry.name}" for entry in entries)
    summary = [f"{len(entries)} files; use them with: biorel build-dataset {named}"]
    return Artifact(label="MeSH", path=config.out, summary=summary)


def _local(source: Path) -> list[Path]:
    """The MeSH files of a folder, by their names, or the one file that is named."""
    if source.is_file():
        return [source]
    found = sorted(path for path in source.iterdir() if _LOCAL.fullmatch(path.name)) if source.is_dir() else []
    if not found:
        raise InputError(f"{source}: no MeSH file", "looked for descYYYY, suppYYYY, mtreesYYYY and YYYYMeshTree")
    return found


def _check(path: Path) -> None:
    """Raises InputError for a file that is not MeSH, or is not whole: it is read to its end."""
    if not sum(1 for _ in read_entries(path, Counts())):
        raise InputError(f"{path}: no MeSH entry", "fetch or copy the file again")
