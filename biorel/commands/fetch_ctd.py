"""fetch ctd: CTD's bulk files, downloaded or copied from a local folder, and verified."""

from __future__ import annotations

from dataclasses import asdict

from biorel import artifacts
from biorel.artifacts import Artifact
from biorel.config.fetch_ctd import FetchCtd
from biorel.errors import ConfigError
from biorel.fetch.bulk_files import STATE, BulkFile, copy_files, fetch_files
from biorel.fetch.http import CLOCK, Client
from biorel.fetch.services import Service, read_service
from biorel.knowledge.ctd import check_file
from biorel.progress import SILENT, Progress
from biorel.resources import resource

_SUFFIXES = (".csv.gz", ".csv", ".tsv.gz", ".tsv")


def run(config: FetchCtd, progress: Progress = SILENT) -> Artifact:
    """Fetch or copy CTD's files into the folder `config.out`.

    Raises:
        FetchError: CTD does not answer, or sends a web page; the message says what to do.
        InputError: a local file is missing, damaged or not a CTD table.
    """
    service = read_service(resource("services.toml"), "ctd", config.url)
    files = _chosen_files(config.file, service, optional=config.source is not None)
    resume = "" if config.source is not None else STATE
    with artifacts.folder("fetch ctd", config.options(), config.out, force=config.force, resume=resume) as output:
        if config.source is not None:
            fetched = copy_files(files, output.path, config.source, output.counts)
        else:
            client = Client(service, clock=CLOCK, report=progress.line)
            fetched = fetch_files(files, output.path, client, output.counts)
        output.notes["files"] = [asdict(file) for file in fetched]
        (output.path / STATE).unlink(missing_ok=True)
    summary = [f"{len(fetched)} files; use them with: biorel build-dataset --ctd {config.out}"]
    return Artifact(label="CTD", path=config.out, summary=summary)


def _chosen_files(names: tuple[str, ...], service: Service, *, optional: bool) -> list[BulkFile]:
    """The named files, with or without suffix. Without names, all files; the optional ones only if `optional`.

    Raises:
        ConfigError: biorel does not read a file of this name.
    """
    files = {_stem(file.name): file for file in service.files}
    for name in names:
        if _stem(name) not in files:
            raise ConfigError(f"--file {name}: not a file that biorel reads", f"choose from {', '.join(files)}")
    stems = [_stem(name) for name in names] or [stem for stem, file in files.items() if optional or not file.optional]
    return [
        BulkFile(
            name=files[stem].name,
            urls=(f"{service.url}/{files[stem].path}",),
            local_names=tuple(stem + suffix for suffix in _SUFFIXES),
            check=check_file,
        )
        for stem in stems
    ]


def _stem(name: str) -> str:
    return name.partition(".")[0]
