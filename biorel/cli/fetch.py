"""`biorel fetch`: a group of commands, one for each source."""

from __future__ import annotations

from typing import Any

import typer

from biorel import config
from biorel.cli import progress
from biorel.cli.options import command

fetch = typer.Typer(
    help="Fetch abstracts, annotations, curations, vocabularies and corpora; resumable, verified, with a manifest.",
    epilog="""\b
Examples:
  biorel fetch pubmed --query 'lithium AND tremor' --max 500 --email you@example.org --out data/abstracts
  biorel fetch pubmed --ctd data/ctd --email you@example.org --out data/abstracts
  biorel fetch pubmed --baseline pubmed/baseline --baseline pubmed/updatefiles --out data/pubmed
  biorel fetch pubtator --pmids data/abstracts/pmids.txt --out data/pubtator
  biorel fetch pubtator --dump bioconcepts2pubtator_offsets.gz --pmids data/abstracts/pmids.txt --out data/pubtator
  biorel fetch ctd --from resources/sample/ctd --out data/ctd
  biorel fetch mesh --year 2025 --out data/mesh
  biorel fetch corpus cdr --out data/cdr""",
    no_args_is_help=True,
    rich_markup_mode=None,
)


def _pubmed(given: Any) -> None:
    from biorel.commands import fetch_pubmed

    typer.echo(f"documents: {fetch_pubmed.run(given, progress.line)}")


def _ctd(given: Any) -> None:
    from biorel.commands import fetch_ctd

    typer.echo(f"CTD: {fetch_ctd.run(given, progress.line)}")


def _mesh(given: Any) -> None:
    from biorel.commands import fetch_mesh

    typer.echo(f"MeSH: {fetch_mesh.run(given, progress.line)}")


def _pubtator(given: Any) -> None:
    from biorel.commands import fetch_pubtator

    typer.echo(f"documents: {fetch_pubtator.run(given, progress.line)}")


def _corpus(given: Any) -> None:
    from biorel.commands import fetch_corpus

    typer.echo(f"corpus: {fetch_corpus.run(given, progress.line)}")


command(fetch, "pubmed", config.FetchPubmed, _pubmed)
command(fetch, "ctd", config.FetchCtd, _ctd)
command(fetch, "mesh", config.FetchMesh, _mesh)
command(fetch, "pubtator", config.FetchPubtator, _pubtator)
command(fetch, "corpus", config.FetchCorpus, _corpus)
