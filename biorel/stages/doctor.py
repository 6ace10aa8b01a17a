"""doctor: whether biorel can work here, told finding by finding."""

from __future__ import annotations

import tempfile
import tomllib
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from biorel.config import Doctor
from biorel.errors import BiorelError
from biorel.resources import resource
from biorel.sources.http import Client
from biorel.sources.probe import unreachable
from biorel.sources.services import read_service
from biorel.stages.machine import FAULT, OK, Finding, device, disk, packages, python, shared_memory

_SERVICES = "services.toml"


def run(config: Doctor, told: Callable[[Finding], None] = lambda finding: None) -> list[Finding]:
    """Look at everything; one fault hides no other.

    Args:
        config: what to look at.
        told: is given each finding as it is made.
    """
    findings = []
    for finding in _findings(config):
        told(finding)
        findings.append(finding)
    return findings


def _findings(config: Doctor) -> Iterator[Finding]:
    yield python()
    yield from packages()
    yield _checked("device", lambda: device(config.device))
    yield _checked("disk", lambda: disk("disk", config.out))
    yield _checked("temporary files", lambda: disk("temporary files", Path(tempfile.gettempdir())))
    yield shared_memory()
    yield _checked("relation schemas", _schemas)
    for name, look in (("cdr", _relation_model), ("reader", _reader), ("linker", _linker), ("tagger", _tagger)):
        yield _checked(f"model {name}", partial(_shipped, name, look))
    if config.model is not None:
        yield _checked(
            f"model {config.model}", partial(_opened, f"model {config.model}", config.model, _relation_model)
        )
    if config.network:
        for name in tomllib.loads(resource(_SERVICES).read_text(encoding="utf-8")):
            yield _checked(f"network {name}", partial(_reached, name))


def _checked(name: str, look: Callable[[], Finding]) -> Finding:
    """What a look finds; an error that it ends with is a fault that is found."""
    try:
        return look()
    except BiorelError as error:
        return Finding(name, FAULT, error.message, error.hint)
    except (ImportError, OSError) as error:
        return Finding(name, FAULT, f"{type(error).__name__}: {error}".splitlines()[0], "see the packages above")


def _schemas() -> Finding:
    from biorel.dataset.collapse import load_schema

    names = [load_schema(path).name for path in sorted(resource("relations").glob("*.toml"))]
    return Finding("relation schemas", OK, f"{', '.join(names)} in {resource('relations')}")


def _shipped(name: str, look: Callable[[Path], str]) -> Finding:
    return _opened(f"model {name}", resource("models", name), look)


def _opened(name: str, folder: Path, look: Callable[[Path], str]) -> Finding:
    return Finding(name, OK, f"{look(folder)} in {folder}")


def _relation_model(folder: Path) -> str:
    from biorel.training.model_folder import open_model

    opened = open_model(folder)
    parameters = sum(parameter.numel() for parameter in opened.model.parameters())
    return f"{parameters:,} parameters, relations {', '.join(opened.schema.labels)}"


def _reader(folder: Path) -> str:
    from biorel.training.reader_folder import open_reader

    sizes = open_reader(folder).models[0].sizes
    return f"head {sizes.head} over the encoder {sizes.encoder}"


def _linker(folder: Path) -> str:
    from biorel.tagging.linker import load_linker

    return f"thresholds for {', '.join(load_linker(folder).settings.thresholds)}"


def _tagger(folder: Path) -> str:
    from biorel.tagging.spacy_model import load_spacy

    return f"spaCy pipeline {', '.join(load_spacy(str(folder)).pipe_names)}"


def _reached(name: str) -> Finding:
    service = read_service(resource(_SERVICES), name)
    fault = unreachable(Client(service))
    hint = "is there a proxy? HTTPS_PROXY names it; --from reads files that were fetched elsewhere"
    return Finding(f"network {name}", FAULT, fault, hint) if fault else Finding(f"network {name}", OK, service.url)
