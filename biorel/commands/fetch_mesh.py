"""fetch mesh: downloads or copies MeSH's descriptors, supplementary concepts and tree, and verifies them."""

from __future__ import annotations

import re
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path

from biorel import artifacts
from biorel.artifacts import Artifact
from biorel.config.fetch_mesh import FetchMesh
from biorel.counts import Counts
from biorel.errors import FetchError, InputError
from biorel.fetch.bulk_files import STATE, BulkFile, copy_files, fetch_files
from biorel.fetch.http import CLOCK, Client
from biorel.fetch.services import read_service
from biorel.knowledge.mesh_files import read_entries
from biorel.progress import SILENT, Progress
from biorel.resources import resource

_MESH_NAME = re.compile(r"(?:desc|supp|mtrees)\d{4}\.\w+(?:\.gz)?|\d{4}MeshTree\.\w+(?:\.gz)?", re.IGNORECASE)


def run(config: FetchMesh, progress: Progress = SILENT) -> Artifact:
    """Fetch or copy MeSH's files into the folder `config.out`.

    Raises:
        FetchError: NLM does not answer, or the address has no files of the requested year.
        InputError: a local file is missing, damaged or not a MeSH file.
    """
    service = read_service(resource("services.toml"), "mesh", config.url)
    year = config.year or datetime.now(tz=UTC).year
    resume = "" if config.source is not None else STATE
    with artifacts.folder("fetch mesh", config.options(), config.out, force=config.force, resume=resume) as output:
        if config.source is not None:
            files = [BulkFile(path.name, (), check=_check) for path in _local_files(config.source)]
            fetched = copy_files(files, output.path, config.source, output.counts)
        else:
            files = [
                BulkFile(file.name.format(year=year), (f"{service.url}/{file.path.format(year=year)}",), check=_check)
                for file in service.files
            ]
            client = Client(service, clock=CLOCK, report=progress.line)
            try:
                fetched = fetch_files(files, output.path, client, output.counts)
            except FetchError as error:
                older = f"{service.url.rpartition('/')[0]}/{year}"
                hint = f"NLM moves the files of past years to another address: try --url {older}"
                raise FetchError(error.message, hint if "HTTP 404" in error.message else error.hint) from error
        output.notes["files"] = [asdict(file) for file in fetched]
        output.notes["year"] = year if config.source is None else None
        (output.path / STATE).unlink(missing_ok=True)
        options = " ".join(f"--mesh {config.out / file.name}" for file in fetched)
    summary = [f"{len(fetched)} files; use them with: biorel build-dataset {options}"]
    return Artifact(label="MeSH", path=config.out, summary=summary)


def _local_files(source: Path) -> list[Path]:
    """The MeSH files of a folder, recognised by their names; or `source` itself, if it is a file."""
    if source.is_file():
        return [source]
    files = sorted(path for path in source.iterdir() if _MESH_NAME.fullmatch(path.name)) if source.is_dir() else []
    if not files:
        raise InputError(
            f"{source}: contains no MeSH file", "MeSH files are named descYYYY, suppYYYY, mtreesYYYY and YYYYMeshTree"
        )
    return files


def _check(path: Path) -> None:
    """Read the whole file, and raise InputError if it is not a MeSH file or is incomplete."""
    if not sum(1 for _ in read_entries(path, Counts())):
        raise InputError(f"{path}: contains no MeSH entry", "fetch or copy the file again")
