"""ask: a question and many documents -> ranked answers with concept ids, votes, sentences and document scores."""

from __future__ import annotations

import time

import torch

from biorel import artifacts
from biorel.artifacts import Artifact
from biorel.config.ask import Ask
from biorel.counts import Counts, Reason
from biorel.extraction.annotator import open_annotator
from biorel.formats.answers import answer_table, write_answers
from biorel.formats.identifiers import concept_id
from biorel.model.device import pick_device
from biorel.progress import SILENT, Progress
from biorel.qa.answers import answer_spans, explain_no_answer, predict_documents, vote_answers
from biorel.qa.decoding import rank_spans
from biorel.qa.folder import open_reader
from biorel.qa.questions import HEAD, TAIL, question_text, read_templates
from biorel.qa.retrieval import (
    RelationQuery,
    ask_by_template,
    ask_in_words,
    check_question,
    read_documents,
)
from biorel.records import Annotated
from biorel.resources import resource


def run(config: Ask, progress: Progress = SILENT) -> Artifact:
    """Answer one question from all documents of `config.over`.

    Returns:
        The file of answers, if one was written. `details` holds `question`, `answers` (records), `documents` (the
        number asked), `why_none` (why there is no answer), `counts` by reason and `seconds` (spent in the reader,
        including features).

    Raises:
        BiorelError: there is no document, the question has no known word, the relation has no template, or a file
            cannot be read or written. No output is left in these cases.
    """
    if config.out is not None:
        artifacts.check_output(config.out, force=config.force, inputs=config.over)
    device = pick_device(config.device)
    if config.threads:
        torch.set_num_threads(config.threads)
    opened = open_reader(config.model or resource("models", "reader"), device)
    counts = Counts()
    templates = read_templates([*sorted(resource("questions").glob("*.toml")), *config.templates])
    query = _relation_query(config)
    if query is None:
        check_question(config.question or "", opened.windower())
    else:
        # a missing template is reported before any document is read
        question_text(templates, query.relation, query.asks, query.entity_id)
    documents, bad_places = read_documents(config.over, counts)
    counts.check_balance()
    documents = _annotate(config, documents, counts)
    if query is None:
        asked = ask_in_words((config.question or "").strip(), documents, config.type, counts)
    else:
        asked = ask_by_template(query, templates, documents, config.type, counts)
    started = time.perf_counter()
    with progress.documents() as report_done:
        candidates = list(
            predict_documents(asked, opened, token_budget=config.batch_tokens, device=device, progress=report_done)
        )
    seconds = time.perf_counter() - started
    decoding = opened.decoding
    min_score = decoding.entity_threshold if config.min_score is None else config.min_score
    spans = [
        span
        for item, question, found in zip(asked.documents, asked.questions, candidates, strict=True)
        for span in answer_spans(item, question, rank_spans(found, decoding, config.spans, min_score))
    ]
    answers = tuple(vote_answers(spans, config.vote))[: config.top]
    if config.out is not None:
        with artifacts.whole_file(config.out, force=config.force) as place:
            write_answers(place, answers)
    number = len(asked.documents)
    why_none = "" if answers else explain_no_answer(candidates, decoding, min_score)
    return Artifact(
        label="answers",
        path=config.out,
        summary=[
            asked.text,
            *answer_table(answers),
            *([f"no answer: {why_none}"] if why_none else []),
            "; ".join(f"{reason}: {count}" for reason, count in counts.by_reason.items()),
            f"{number} documents asked, {number / max(seconds, 1e-9):.1f} docs/s ({seconds:.1f} s)",
        ],
        details={
            "question": asked.text,
            "answers": answers,
            "documents": number,
            "why_none": why_none,
            "counts": counts.by_reason,
            "seconds": seconds,
        },
        bad_records=bad_places,
        bad_accepted=config.skip_bad,
    )


def _relation_query(config: Ask) -> RelationQuery | None:
    """The query for a question from a template; None for a question in plain words."""
    if config.relation is None:
        return None
    entity_id = concept_id(config.head or config.tail or "", "") or ""
    return RelationQuery(config.relation, TAIL if config.head is not None else HEAD, entity_id)


def _annotate(config: Ask, documents: list[Annotated], counts: Counts) -> list[Annotated]:
    """The documents; in those without mentions, mentions are found and linked."""
    untagged = sum(not item.mentions for item in documents)
    if not untagged:
        return documents
    annotator = open_annotator(
        tagger=config.tagger,
        tagger_model=config.tagger_model,
        linker=config.linker,
        n_process=config.n_process,
        counts=counts,
    )
    if annotator is None:
        return documents
    counts.add(Reason.DOCUMENTS_TAGGED, count=untagged)
    return annotator.fill(documents)
