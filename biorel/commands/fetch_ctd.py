"""fetch ctd: CTD's bulk files, downloaded or copied from where the user has them, verified."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from biorel import artifacts
from biorel.artifacts import Artifact
from biorel.config.fetch_ctd import FetchCtd
from biorel.counts import Counts
from biorel.errors import ConfigError, InputError
from biorel.fetch.bulk_files import STATE, Wanted, copy_files, fetch_files, write_state
from biorel.fetch.http import Client
from biorel.fetch.pacing import CLOCK
from biorel.fetch.services import Service, read_service
from biorel.knowledge.ctd_table import read_rows
from biorel.progress import SILENT, Progress
from biorel.resources import resource

_SUFFIXES = (".csv.gz", ".csv", ".tsv.gz", ".tsv")


def run(config: FetchCtd, progress: Progress = SILENT) -> Artifact:
    """Bring CTD's files into the folder `config.out`.

    Raises:
        FetchError: CTD does not answer, or sends a page; the message says what to do.
        InputError: a local file is missing, damaged or no CTD table.
    """
    service = read_service(resource("services.toml"), "ctd", config.url)
    files = _wanted(config, service)
    resume = "" if config.source is not None else STATE
    with artifacts.folder("fetch ctd", config.options(), config.out, force=config.force, resume=resume) as output:
        if config.source is not None:
            entries = copy_files(files, output.path, config.source, output.counts)
        else:
            if not output.resumed:
                write_state(output.path, {})
            client = Client(service, clock=CLOCK, tell=progress.line)
            entries = fetch_files(files, output.path, client, output.counts)
        output.notes["files"] = [entry.to_json() for entry in entries]
        (output.path / STATE).unlink(missing_ok=True)
    summary = [f"{len(entries)} files; use them with: biorel build-dataset --ctd {config.out}"]
    return Artifact(label="CTD", path=config.out, summary=summary)


def _wanted(config: FetchCtd, service: Service) -> list[Wanted]:
    """The files that --file names, by their name with or without suffix; else all but the optional ones."""
    known = {file.name: file for file in service.files}
    stems = {_stem(name): name for name in known}
    names = [stems.get(_stem(name), "") for name in config.file]
    if "" in names:
        unknown = config.file[names.index("")]
        raise ConfigError(f"--file {unknown}: not a file that biorel reads", f"there are {', '.join(stems)}")
    chosen = names or [name for name, file in known.items() if not file.optional or config.source is not None]
    return [
        Wanted(
            name=name,
            urls=(f"{service.url}/{known[name].path}",),
            local_names=tuple(_stem(name) + suffix for suffix in _SUFFIXES),
            check=partial(_check, columns=known[name].columns),
        )
        for name in chosen
    ]


def _stem(name: str) -> str:
    return name.partition(".")[0]


def _check(path: Path, columns: tuple[str, ...]) -> None:
    """Raises InputError for a file without these columns or without a row."""
    if next(read_rows(path, columns, Counts()), None) is None:
        raise InputError(f"{path}: no row", "fetch or copy the file again")
