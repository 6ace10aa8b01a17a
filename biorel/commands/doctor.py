"""doctor: checks whether biorel can work on this machine, and reports each finding."""

from __future__ import annotations

import json
import tempfile
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import asdict
from functools import partial
from pathlib import Path

from biorel.artifacts import Artifact
from biorel.config.doctor import Doctor
from biorel.errors import BiorelError
from biorel.fetch.http import Client, unreachable
from biorel.fetch.services import read_service
from biorel.machine import (
    FAULT,
    OK,
    Finding,
    check_device,
    check_disk,
    check_packages,
    check_python,
    check_shared_memory,
)
from biorel.progress import SILENT, Progress
from biorel.resources import resource

_SERVICES = "services.toml"


def run(config: Doctor, progress: Progress = SILENT) -> Artifact:
    """Run all checks. A fault in one check does not stop the other checks.

    Returns:
        An artifact without a path. `details["findings"]` lists the findings; `failed` is true if one is a fault.
    """
    findings = list(_findings(config, progress))
    return Artifact(
        label="doctor",
        summary=_as_json(findings) if config.as_json else [line for finding in findings for line in _lines(finding)],
        details={"findings": findings},
        failed=any(finding.state == FAULT for finding in findings),
    )


def _as_json(findings: list[Finding]) -> list[str]:
    return [json.dumps([asdict(finding) for finding in findings], indent=1, ensure_ascii=False)]


def _lines(finding: Finding) -> Iterator[str]:
    yield f"{finding.state:5}  {finding.name}: {finding.text}"
    if finding.hint:
        yield f"       hint: {finding.hint}"


def _findings(config: Doctor, progress: Progress) -> Iterator[Finding]:
    yield check_python()
    yield from check_packages()
    yield _attempt("device", lambda: check_device(config.device))
    yield _attempt("disk", lambda: check_disk("disk", config.out))
    yield _attempt("temporary files", lambda: check_disk("temporary files", Path(tempfile.gettempdir())))
    yield check_shared_memory()
    yield _attempt("relation schemas", _check_schemas)
    for name, describe in _SHIPPED_MODELS.items():
        yield _attempt(f"model {name}", partial(_check_shipped_model, name, describe))
    if config.model is not None:
        name = f"model {config.model}"
        yield _attempt(name, partial(_check_model, name, config.model, _SHIPPED_MODELS["cdr"]))
    if config.network:
        for service in tomllib.loads(resource(_SERVICES).read_text(encoding="utf-8")):
            progress.line(f"asking {service} for an answer")
            yield _attempt(f"network {service}", partial(_check_service, service))


def _attempt(name: str, check: Callable[[], Finding]) -> Finding:
    """Run a check and return its finding. If the check ends with an error, the finding is a fault."""
    try:
        return check()
    except BiorelError as error:
        return Finding(name, FAULT, error.message, error.hint)
    except (ImportError, OSError) as error:
        return Finding(name, FAULT, f"{type(error).__name__}: {error}".splitlines()[0], "see the packages above")


def _check_schemas() -> Finding:
    from biorel.dataset.relation_schema import load_schema

    names = [load_schema(path).name for path in sorted(resource("relations").glob("*.toml"))]
    return Finding("relation schemas", OK, f"{', '.join(names)} in {resource('relations')}")


def _check_shipped_model(name: str, describe: Callable[[Path], str]) -> Finding:
    return _check_model(f"model {name}", resource("models", name), describe)


def _check_model(name: str, folder: Path, describe: Callable[[Path], str]) -> Finding:
    return Finding(name, OK, f"{describe(folder)} in {folder}")


def _describe_relation_model(folder: Path) -> str:
    from biorel.training.model_folder import open_model

    opened = open_model(folder)
    parameters = sum(parameter.numel() for parameter in opened.model.parameters())
    return f"{parameters:,} parameters, relations {', '.join(opened.schema.labels)}"


def _describe_reader(folder: Path) -> str:
    from biorel.qa.folder import open_reader

    sizes = open_reader(folder).readers[0].config
    return f"head {sizes.head} over the encoder {sizes.encoder}"


def _describe_linker(folder: Path) -> str:
    from biorel.linking.linker import load_linker

    return f"thresholds for {', '.join(load_linker(folder).settings.thresholds)}"


def _describe_tagger(folder: Path) -> str:
    from biorel.ner.spacy_model import load_spacy

    return f"spaCy pipeline {', '.join(load_spacy(str(folder)).pipe_names)}"


_SHIPPED_MODELS: dict[str, Callable[[Path], str]] = {
    "cdr": _describe_relation_model,
    "reader": _describe_reader,
    "linker": _describe_linker,
    "tagger": _describe_tagger,
}


def _check_service(name: str) -> Finding:
    service = read_service(resource(_SERVICES), name)
    fault = unreachable(Client(service))
    hint = "behind a proxy, set HTTPS_PROXY; or download the files elsewhere and give them with --from"
    return Finding(f"network {name}", FAULT, fault, hint) if fault else Finding(f"network {name}", OK, service.url)
