"""`biorel`: the commands. A stage is imported when its command runs, so that --help answers at once."""

from __future__ import annotations

import json
import sys
import traceback
from collections.abc import Sequence
from dataclasses import asdict
from typing import Annotated, Any, NoReturn

import typer

from biorel import __version__, config
from biorel.cli import progress
from biorel.cli.fetch import fetch
from biorel.cli.options import command
from biorel.errors import BiorelError

app = typer.Typer(
    help="From biomedical abstracts to linked, scored, evidenced relations.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
_DEBUG = "--debug"


def _print_version(asked: bool) -> None:
    if asked:
        typer.echo(f"biorel {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool,
        typer.Option("--version", help="print the version and exit", is_eager=True, callback=_print_version),
    ] = False,
    debug: Annotated[bool, typer.Option(_DEBUG, help="show the traceback of an error")] = False,
) -> None:
    pass


def _build_dataset(given: Any) -> None:
    from biorel.commands import build_dataset

    typer.echo(f"dataset: {build_dataset.run(given, progress.line)}")


def _pretrain(given: Any) -> None:
    from biorel.commands import pretrain

    def bar(reports: Any) -> Any:
        return progress.pretraining(reports, given.epochs)

    typer.echo(f"pre-trained: {pretrain.run(given, progress.line, bar)}")


def _train(given: Any) -> None:
    from biorel.commands import train

    typer.echo(f"model: {train.run(given, lambda reports: progress.training(reports, given.epochs))}")


def _ensemble(given: Any) -> None:
    from biorel.commands import ensemble

    typer.echo(f"model: {ensemble.run(given, progress.line)}")


def _evaluate(given: Any) -> None:
    from biorel.commands import evaluate

    typer.echo(f"evaluation: {evaluate.run(given, progress.line)}")


def _tell_bad_records(places: Sequence[str], accepted: bool) -> None:
    if not places or accepted:
        return
    for place in places:
        typer.echo(f"bad record: {place}", err=True)
    typer.echo("hint: the other records were read; mend these, or accept them with --skip-bad", err=True)
    raise typer.Exit(3)


def _extract(given: Any) -> None:
    from biorel.commands import extract

    with progress.documents() as done:
        summary = extract.run(given, done)
    counts = ", ".join(f"{count} {status}" for status, count in summary.by_status.items() if count)
    typer.echo(f"{summary.relations} relations of {summary.documents} documents ({counts or 'the input is empty'})")
    rate = summary.documents / max(summary.seconds, 1e-9)
    typer.echo("; ".join(f"{reason}: {count}" for reason, count in summary.books.items()))
    typer.echo(f"{rate:.1f} docs/s on {summary.device} ({summary.seconds:.1f} s)")
    typer.echo(f"relations: {summary.out}\nstatus: {summary.status}")
    _tell_bad_records(summary.bad_places, given.skip_bad)


def _aggregate(given: Any) -> None:
    from biorel.commands import aggregate

    typer.echo(f"triples: {aggregate.run(given, progress.line)}")


def _build_questions(given: Any) -> None:
    from biorel.commands import build_questions

    typer.echo(f"questions: {build_questions.run(given, progress.line)}")


def _train_reader(given: Any) -> None:
    from biorel.commands import train_reader

    def told(reports: Any) -> Any:
        return progress.training(reports, given.epochs, "questions")

    typer.echo(f"reader: {train_reader.run(given, told)}")


def _evaluate_reader(given: Any) -> None:
    from biorel.commands import evaluate_reader

    typer.echo(f"evaluation: {evaluate_reader.run(given, progress.line)}")


def _ask(given: Any) -> None:
    from biorel.commands import ask
    from biorel.formats.answers import answer_table

    with progress.documents() as done:
        summary = ask.run(given, done)
    typer.echo(summary.question)
    for line in answer_table(summary.answers):
        typer.echo(line)
    if summary.why_none:
        typer.echo(f"no answer: {summary.why_none}")
    typer.echo("; ".join(f"{reason}: {count}" for reason, count in summary.counts.items()))
    rate = summary.documents / max(summary.seconds, 1e-9)
    typer.echo(f"{summary.documents} documents asked, {rate:.1f} docs/s ({summary.seconds:.1f} s)")
    if summary.out is not None:
        typer.echo(f"answers: {summary.out}")
    _tell_bad_records(summary.bad_places, given.skip_bad)


def _tag(given: Any) -> None:
    from biorel.commands import tag

    typer.echo(f"tagged: {tag.run(given, progress.line)}")


def _train_tagger(given: Any) -> None:
    from biorel.commands import train_tagger

    typer.echo(f"tagger: {train_tagger.run(given, progress.line)}")


def _build_linker(given: Any) -> None:
    from biorel.commands import build_linker

    typer.echo(f"linker: {build_linker.run(given, progress.line)}")


def _build_graph(given: Any) -> None:
    from biorel.commands import build_graph

    typer.echo(f"graph: {build_graph.run(given, progress.line)}")


def _export(given: Any) -> None:
    from biorel.commands import export

    typer.echo(f"exported: {export.run(given, progress.line)}")


def _run(given: Any) -> None:
    from biorel.commands import run

    run.run(given, progress.line)


def _doctor(given: Any) -> None:
    from biorel.commands import doctor

    findings = doctor.run(given, lambda finding: None if given.as_json else _tell_finding(finding))
    if given.as_json:
        typer.echo(json.dumps([asdict(finding) for finding in findings], indent=1, ensure_ascii=False))
    if any(finding.state == "fault" for finding in findings):
        raise typer.Exit(1)


def _tell_finding(finding: Any) -> None:
    typer.echo(f"{finding.state:5}  {finding.name}: {finding.text}")
    if finding.hint:
        typer.echo(f"       hint: {finding.hint}")


command(app, "build-dataset", config.BuildDataset, _build_dataset)
command(app, "pretrain", config.Pretrain, _pretrain)
command(app, "train", config.Train, _train)
command(app, "ensemble", config.Ensemble, _ensemble)
command(app, "evaluate", config.Evaluate, _evaluate)
command(app, "extract", config.Extract, _extract)
command(app, "aggregate", config.Aggregate, _aggregate)
command(app, "build-questions", config.BuildQuestions, _build_questions)
command(app, "train-reader", config.TrainReader, _train_reader)
command(app, "evaluate-reader", config.EvaluateReader, _evaluate_reader)
command(app, "ask", config.Ask, _ask)
command(app, "tag", config.Tag, _tag)
command(app, "train-tagger", config.TrainTagger, _train_tagger)
command(app, "build-linker", config.BuildLinker, _build_linker)
command(app, "build-graph", config.BuildGraph, _build_graph)
command(app, "export", config.Export, _export)
command(app, "run", config.Run, _run)
command(app, "doctor", config.Doctor, _doctor)
app.add_typer(fetch, name="fetch")


def main() -> None:
    """The entry point: an error is one line and a hint on stderr, with its exit code."""
    try:
        app()
    except BiorelError as error:
        _tell(error)
    except Exception as error:
        reason = f"{type(error).__name__}: {error}".splitlines()[0]
        _tell(BiorelError(f"unexpected {reason}", f"this is a fault of biorel; biorel {_DEBUG} ... shows where"))


def _tell(error: BiorelError) -> NoReturn:
    if _DEBUG in sys.argv:
        traceback.print_exc()
    typer.echo(f"error: {error.message}", err=True)
    if error.hint:
        typer.echo(f"hint: {error.hint}", err=True)
    sys.exit(error.exit_code)
