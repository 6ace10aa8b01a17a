"""The reasons for which rows are counted. Each reason has the kind of row and the outcome for these rows."""

from __future__ import annotations

from enum import Enum, StrEnum, unique
from typing import Self


class Outcome(Enum):
    """What happened to the rows that a reason counts. `NOTE` and `REPAIRED` are not part of the balance."""

    READ = "read"
    ADDED = "added"
    KEPT = "kept"
    EXCLUDED = "excluded"
    REPAIRED = "repaired"
    NOTE = "note"


class Rows(Enum):
    """A kind of row. The counts of each kind must balance."""

    RECORDS = "records"
    DOCUMENTS = "documents"
    OUTPUT_DOCUMENTS = "documents of the output"
    ROWS = "rows"
    MENTIONS = "mentions"
    CURATIONS = "relation rows"
    QUESTIONS = "questions"
    ANSWERS = "answers"
    CITATIONS = "citations"
    MESH_RECORDS = "MeSH records"
    RELATIONS = "relations"
    ANNOTATED_DOCUMENTS = "annotated documents"
    # the reading of these is not counted, so they have no balance
    CHARACTERS = "characters"
    CONCEPTS = "concepts"
    DEV_DOCUMENTS = "dev documents"
    DUMP_DOCUMENTS = "documents of the dump"
    ENCODED_MENTIONS = "encoded mentions"
    EXAMPLES = "examples"
    FILES = "files"
    GRAPH_CURATIONS = "curations of the graph"
    NAMES = "names"
    PAIRS = "pairs"
    PARAMETERS = "parameters"
    PMIDS = "PMIDs"
    PREDICTIONS = "predictions"
    QUERY_WORDS = "words of the query"
    QUESTIONED_DOCUMENTS = "questioned documents"
    TAGGED_DOCUMENTS = "tagged documents"
    TAGGED_MENTIONS = "tagged mentions"
    TRIPLES = "triples"


@unique
class Reason(StrEnum):
    """Why rows were counted. The value is the phrase that users see.

    Attributes:
        rows: the kind of row counted.
        outcome: what happened to the rows.
    """

    rows: Rows
    outcome: Outcome

    def __new__(cls, phrase: str, rows: Rows, outcome: Outcome) -> Self:
        member = str.__new__(cls, phrase)
        member._value_ = phrase
        member.rows = rows
        member.outcome = outcome
        return member

    # formats: records and documents
    RECORDS_READ = "records read", Rows.RECORDS, Outcome.READ
    DOCUMENTS_READ = "documents read", Rows.RECORDS, Outcome.KEPT
    RECORD_UNUSABLE = "records excluded: they are not documents", Rows.RECORDS, Outcome.EXCLUDED
    RECORD_WITHOUT_ID = "records excluded: they have no id", Rows.RECORDS, Outcome.EXCLUDED
    RECORD_WITHOUT_PMID = "records excluded: they have no PMID", Rows.RECORDS, Outcome.EXCLUDED
    RECORD_WITHOUT_TEXT = "records excluded: they have no text", Rows.RECORDS, Outcome.EXCLUDED
    RECORD_DELETION = "records excluded: they delete another record", Rows.RECORDS, Outcome.EXCLUDED
    DOCUMENTS_KEPT = "documents kept", Rows.DOCUMENTS, Outcome.KEPT
    DOCUMENT_REPEATED = "documents excluded: their id was read before", Rows.DOCUMENTS, Outcome.EXCLUDED

    # formats: rows of tables
    ROWS_READ = "rows read", Rows.ROWS, Outcome.READ
    ROWS_KEPT = "rows kept", Rows.ROWS, Outcome.KEPT
    ROW_MALFORMED = "rows excluded: they are malformed", Rows.ROWS, Outcome.EXCLUDED
    SPO_TRIPLES_KEPT = "triples kept from .spo files", Rows.ROWS, Outcome.KEPT
    PMID_MALFORMED = "rows excluded: they are not PMIDs", Rows.ROWS, Outcome.EXCLUDED
    PMID_REPEATED = "rows excluded: their PMID was read before", Rows.ROWS, Outcome.EXCLUDED

    # formats: mentions
    ANNOTATIONS_READ = "annotations read", Rows.MENTIONS, Outcome.READ
    MENTIONS_TRANSFERRED = "annotations transferred from the imported documents", Rows.MENTIONS, Outcome.READ
    MENTIONS_ADDED_SEVERAL_CONCEPTS = "mentions added: their span names several concepts", Rows.MENTIONS, Outcome.ADDED
    MENTIONS_KEPT = "mentions kept", Rows.MENTIONS, Outcome.KEPT
    ANNOTATION_NAME_REPEATED = "annotations dropped: their name was read before", Rows.MENTIONS, Outcome.EXCLUDED
    ANNOTATION_WITHOUT_OFFSETS = "annotations dropped: they have no offsets", Rows.MENTIONS, Outcome.EXCLUDED
    ANNOTATION_WITHOUT_DOCUMENT = "annotations dropped: their document is missing", Rows.MENTIONS, Outcome.EXCLUDED
    MENTION_REPEATED = "mentions dropped: they were read before", Rows.MENTIONS, Outcome.EXCLUDED
    MENTION_SPAN_MISMATCH = "mentions dropped: the span does not show the text", Rows.MENTIONS, Outcome.EXCLUDED
    MENTION_NOT_SEARCHED = (
        "mentions dropped: the document has too many misplaced mentions",
        Rows.MENTIONS,
        Outcome.EXCLUDED,
    )
    SPAN_REPAIRED_UNIQUE_TEXT = "spans repaired: the text occurs once", Rows.MENTIONS, Outcome.REPAIRED
    SPAN_REPAIRED_UTF8 = "spans repaired: offsets counted UTF-8 bytes", Rows.MENTIONS, Outcome.REPAIRED
    SPAN_REPAIRED_UTF16 = "spans repaired: offsets counted UTF-16 code units", Rows.MENTIONS, Outcome.REPAIRED
    SPAN_TEXT_NORMALISED = "mentions repaired: the source had normalised the text", Rows.MENTIONS, Outcome.REPAIRED
    MENTION_PARTS_JOINED = "mentions repaired: several parts became one span", Rows.MENTIONS, Outcome.REPAIRED

    # formats: relations of documents
    RELATION_ROWS_READ = "relation rows read", Rows.CURATIONS, Outcome.READ
    CURATIONS_ADDED_SEVERAL_CONCEPTS = (
        "relation rows added: an argument names several concepts",
        Rows.CURATIONS,
        Outcome.ADDED,
    )
    CURATIONS_KEPT = "relation rows kept", Rows.CURATIONS, Outcome.KEPT
    CURATION_REPEATED = "relation rows dropped: they were read before", Rows.CURATIONS, Outcome.EXCLUDED
    CURATION_NEGATIVE = "relation rows dropped: they state that there is no relation", Rows.CURATIONS, Outcome.EXCLUDED
    CURATION_ARGUMENT_NOT_ANNOTATED = (
        "relation rows dropped: an argument is not annotated",
        Rows.CURATIONS,
        Outcome.EXCLUDED,
    )
    CURATION_ARGUMENT_WITHOUT_CONCEPT = (
        "relation rows dropped: an argument names no concept",
        Rows.CURATIONS,
        Outcome.EXCLUDED,
    )
    CURATION_WITHOUT_TYPE = "relation rows dropped: they have no type", Rows.CURATIONS, Outcome.EXCLUDED
    CURATION_NOT_TWO_ARGUMENTS = (
        "relation rows dropped: they do not have two arguments",
        Rows.CURATIONS,
        Outcome.EXCLUDED,
    )
    CURATION_WITHOUT_DOCUMENT = "relation rows dropped: their document is missing", Rows.CURATIONS, Outcome.EXCLUDED

    # formats: questions and answers
    QUESTIONS_READ = "questions read", Rows.QUESTIONS, Outcome.READ
    QUESTIONS_KEPT = "questions kept", Rows.QUESTIONS, Outcome.KEPT
    QUESTION_UNANSWERABLE = "questions excluded: unanswerable, by --unanswerable", Rows.QUESTIONS, Outcome.EXCLUDED
    ANSWERS_READ = "answers read", Rows.ANSWERS, Outcome.READ
    ANSWERS_KEPT = "answers kept", Rows.ANSWERS, Outcome.KEPT
    ANSWER_EMPTY = "answers dropped: they are empty", Rows.ANSWERS, Outcome.EXCLUDED
    ANSWER_SPAN_MISMATCH = "answers dropped: the text is not at the start offset", Rows.ANSWERS, Outcome.EXCLUDED
    ANSWER_REPEATED = "answers dropped: they were read before", Rows.ANSWERS, Outcome.EXCLUDED
    ANSWER_MOVED = "answers repaired: the text occurs once", Rows.ANSWERS, Outcome.REPAIRED

    # formats: characters
    SURROGATE_REPLACED = "characters repaired: half of a surrogate pair", Rows.CHARACTERS, Outcome.REPAIRED
    NUL_REPLACED = "characters repaired: a NUL byte", Rows.CHARACTERS, Outcome.REPAIRED

    # fetch
    PMIDS_REQUESTED = "PMIDs requested", Rows.PMIDS, Outcome.NOTE
    PMIDS_MISSING = "PMIDs missing", Rows.PMIDS, Outcome.NOTE
    QUERY_WORDS_NOT_FOUND = "query words ignored: PubMed does not know them", Rows.QUERY_WORDS, Outcome.NOTE
    FILES_FETCHED = "files fetched", Rows.FILES, Outcome.NOTE
    FILES_COPIED = "files copied", Rows.FILES, Outcome.NOTE
    FILE_NOT_IN_FROM = "files skipped: --from does not have them", Rows.FILES, Outcome.NOTE
    FILE_DAMAGED = "files fetched again: the first copy was damaged", Rows.FILES, Outcome.REPAIRED
    FILES_UNPACKED = "files unpacked", Rows.FILES, Outcome.NOTE
    DUMP_DOCUMENTS_READ = "documents in the dump", Rows.DUMP_DOCUMENTS, Outcome.NOTE
    DUMP_DOCUMENTS_FOUND = "documents found in the dump", Rows.DUMP_DOCUMENTS, Outcome.NOTE
    CITATIONS_READ = "citations read", Rows.CITATIONS, Outcome.READ
    CITATIONS_KEPT = "citations kept", Rows.CITATIONS, Outcome.KEPT
    CITATION_SUPERSEDED = "citations excluded: there is a later version", Rows.CITATIONS, Outcome.EXCLUDED
    CITATION_BEYOND_MAX = "citations excluded: beyond --max", Rows.CITATIONS, Outcome.EXCLUDED
    CITATION_DELETED = "citations excluded: PubMed deleted them", Rows.CITATIONS, Outcome.EXCLUDED
    CITATION_WITHOUT_TEXT = "citations excluded: they have neither title nor abstract", Rows.CITATIONS, Outcome.EXCLUDED
    ABSTRACT_FROM_PUBLISHER = "abstracts taken from OtherAbstract", Rows.CITATIONS, Outcome.NOTE

    # knowledge: CTD
    CTD_ROWS_READ = "CTD rows read", Rows.ROWS, Outcome.READ
    CTD_ROWS_KEPT = "CTD rows kept", Rows.ROWS, Outcome.KEPT
    CTD_ROW_OF_OTHER_ARTICLES = "CTD rows excluded: they concern other articles", Rows.ROWS, Outcome.EXCLUDED
    CTD_ROW_WITHOUT_PMID = "CTD rows excluded: they have no PubMed id", Rows.ROWS, Outcome.EXCLUDED
    CTD_ROW_WITHOUT_ACTION = "CTD rows excluded: they have no action", Rows.ROWS, Outcome.EXCLUDED
    CTD_ROW_WITHOUT_CONCEPT = "CTD rows excluded: they have no concept id", Rows.ROWS, Outcome.EXCLUDED
    CTD_ROW_WITHOUT_CONCEPT_OR_NAME = (
        "CTD rows excluded: they have no concept id or no name",
        Rows.ROWS,
        Outcome.EXCLUDED,
    )
    CTD_ROW_INFERRED = "CTD rows inferred by CTD", Rows.ROWS, Outcome.NOTE
    CTD_PMID_NOT_A_NUMBER = "PubMed ids ignored: they are not numbers", Rows.PMIDS, Outcome.EXCLUDED
    CTD_FILE_SUPERSEDED = "CTD files skipped: another edition was read", Rows.FILES, Outcome.NOTE
    CTD_TABLE_ABSENT = "CTD tables absent", Rows.FILES, Outcome.NOTE
    CTD_VOCABULARY_ABSENT = "CTD vocabularies absent", Rows.FILES, Outcome.NOTE
    ALTERNATE_DISEASE_ID_AMBIGUOUS = (
        "alternate disease ids excluded: they are ambiguous",
        Rows.CONCEPTS,
        Outcome.EXCLUDED,
    )
    ALTERNATE_ID_AMBIGUOUS = "alternate ids excluded: they are ambiguous", Rows.CONCEPTS, Outcome.EXCLUDED
    CTD_CONCEPTS_NAMED = "concepts named by CTD", Rows.CONCEPTS, Outcome.NOTE

    # knowledge: MeSH
    MESH_RECORDS_READ = "MeSH records read", Rows.MESH_RECORDS, Outcome.READ
    MESH_RECORDS_KEPT = "MeSH records kept", Rows.MESH_RECORDS, Outcome.KEPT
    MESH_RECORD_MALFORMED = "MeSH records excluded: they are malformed", Rows.MESH_RECORDS, Outcome.EXCLUDED
    MESH_TERMS_READ = "MeSH terms read", Rows.NAMES, Outcome.NOTE
    TREE_NAME_WITHOUT_DESCRIPTOR = "tree names excluded: no descriptor has them", Rows.CONCEPTS, Outcome.EXCLUDED
    TREE_NUMBER_MALFORMED = "tree numbers excluded: they are malformed", Rows.CONCEPTS, Outcome.EXCLUDED

    # knowledge: graph
    KNOWN_PAIRS_READ = "known pairs read", Rows.PAIRS, Outcome.NOTE
    KNOWN_PAIR_OF_EXCLUDED_ARTICLES = (
        "known pairs excluded: only excluded articles have them",
        Rows.PAIRS,
        Outcome.EXCLUDED,
    )
    KNOWN_PAIR_WITHOUT_TWO_IDS = "known pairs excluded: they do not have two ids", Rows.PAIRS, Outcome.EXCLUDED
    GRAPH_CURATION_INFERRED = "curations excluded: CTD inferred them", Rows.GRAPH_CURATIONS, Outcome.EXCLUDED
    GRAPH_CURATION_OF_EXCLUDED_ARTICLE = (
        "curations excluded: their article is excluded",
        Rows.GRAPH_CURATIONS,
        Outcome.EXCLUDED,
    )
    GRAPH_CURATION_REFLEXIVE = (
        "curations excluded: they relate a concept to itself",
        Rows.GRAPH_CURATIONS,
        Outcome.EXCLUDED,
    )
    CTD_TRIPLES = "triples from CTD", Rows.TRIPLES, Outcome.NOTE
    MESH_TRIPLES = "triples from MeSH", Rows.TRIPLES, Outcome.NOTE
    TRIPLE_OBJECT_WITHOUT_NAME = "triples excluded: the object has no name", Rows.TRIPLES, Outcome.EXCLUDED
    TRIPLE_CONCEPT_WITHOUT_NAME = "is_a triples excluded: a concept has no name", Rows.TRIPLES, Outcome.EXCLUDED
    TRIPLE_CIRCULAR = "is_a triples excluded: they close a circle", Rows.TRIPLES, Outcome.EXCLUDED
    TRIPLE_REPEATED = "triples excluded: they were read before", Rows.TRIPLES, Outcome.EXCLUDED
    TRIPLES_WRITTEN = "triples written", Rows.TRIPLES, Outcome.NOTE
    TRIPLE_BELOW_MIN_SUPPORT = "triples excluded: below --min-support", Rows.TRIPLES, Outcome.EXCLUDED

    # linking
    MESH_CONCEPT_OF_OTHER_BRANCH = (
        "MeSH concepts excluded: neither chemical nor disease",
        Rows.CONCEPTS,
        Outcome.EXCLUDED,
    )
    MESH_CHEMICAL_NAMES = "MeSH names added for chemicals", Rows.NAMES, Outcome.NOTE
    MESH_DISEASE_NAMES = "MeSH names added for diseases", Rows.NAMES, Outcome.NOTE
    MESH_CHEMICAL_SYNONYMS = "MeSH synonyms added for chemicals", Rows.NAMES, Outcome.NOTE
    MESH_DISEASE_SYNONYMS = "MeSH synonyms added for diseases", Rows.NAMES, Outcome.NOTE
    CTD_CHEMICAL_NAMES = "CTD names added for chemicals", Rows.NAMES, Outcome.NOTE
    CTD_DISEASE_NAMES = "CTD names added for diseases", Rows.NAMES, Outcome.NOTE
    CTD_GENE_NAMES = "CTD names added for genes", Rows.NAMES, Outcome.NOTE
    CTD_CHEMICAL_SYNONYMS = "CTD synonyms added for chemicals", Rows.NAMES, Outcome.NOTE
    CTD_DISEASE_SYNONYMS = "CTD synonyms added for diseases", Rows.NAMES, Outcome.NOTE
    CTD_GENE_SYNONYMS = "CTD synonyms added for genes", Rows.NAMES, Outcome.NOTE
    TRAINING_MENTIONS = "mentions used for training the linker", Rows.NAMES, Outcome.NOTE
    TRAINING_MENTION_WITHOUT_ID = "mentions not used for training the linker: they have no id", Rows.NAMES, Outcome.NOTE
    NAMES_WRITTEN = "names written", Rows.NAMES, Outcome.NOTE
    DEV_DOCUMENT_IN_TRAINING = "dev documents excluded: --documents has them", Rows.DEV_DOCUMENTS, Outcome.EXCLUDED

    # ner
    ANNOTATED_DOCUMENTS_READ = "annotated documents read", Rows.ANNOTATED_DOCUMENTS, Outcome.READ
    ANNOTATED_DOCUMENTS_MATCHED = "annotated documents matched to a document", Rows.ANNOTATED_DOCUMENTS, Outcome.KEPT
    ANNOTATED_DOCUMENT_UNMATCHED = (
        "annotated documents excluded: no document has their id",
        Rows.ANNOTATED_DOCUMENTS,
        Outcome.EXCLUDED,
    )
    ANNOTATED_DOCUMENT_REPEATED = (
        "annotated documents excluded: their id was read before",
        Rows.ANNOTATED_DOCUMENTS,
        Outcome.EXCLUDED,
    )
    DOCUMENTS_WITH_OTHER_TEXT = (
        "documents annotated on another edition of the text",
        Rows.TAGGED_DOCUMENTS,
        Outcome.NOTE,
    )
    DOCUMENTS_WITHOUT_ANNOTATIONS = "documents without annotations", Rows.TAGGED_DOCUMENTS, Outcome.NOTE
    DOCUMENTS_WITHOUT_TOKENS = "documents without tokens", Rows.TAGGED_DOCUMENTS, Outcome.NOTE
    BATCHES_SPLIT = "batches tagged document by document: a component failed", Rows.TAGGED_DOCUMENTS, Outcome.NOTE
    DOCUMENTS_NOT_TAGGED = "documents not tagged: the model failed", Rows.TAGGED_DOCUMENTS, Outcome.NOTE
    DOCUMENTS_PARTLY_TAGGED = "documents tagged without the other components", Rows.TAGGED_DOCUMENTS, Outcome.NOTE
    DOCUMENTS_TAGGED = "documents tagged", Rows.TAGGED_DOCUMENTS, Outcome.NOTE
    LEXICON_NAMES_KEPT = "lexicon names kept", Rows.NAMES, Outcome.NOTE
    LEXICON_NAME_TOO_SHORT = "lexicon names dropped: too short or without a letter", Rows.NAMES, Outcome.NOTE
    MENTIONS_ADDED_SAME_NAME = (
        "mentions added: the document uses the name elsewhere",
        Rows.TAGGED_MENTIONS,
        Outcome.NOTE,
    )
    MENTIONS_WRITTEN = "mentions written", Rows.TAGGED_MENTIONS, Outcome.NOTE
    MENTIONS_WITHOUT_CONCEPT = "mentions without a concept id", Rows.TAGGED_MENTIONS, Outcome.NOTE

    # dataset
    DOCUMENTS_WRITTEN_TRAIN = "documents written: train", Rows.OUTPUT_DOCUMENTS, Outcome.KEPT
    DOCUMENTS_WRITTEN_DEV = "documents written: dev", Rows.OUTPUT_DOCUMENTS, Outcome.KEPT
    DOCUMENTS_WRITTEN_TEST = "documents written: test", Rows.OUTPUT_DOCUMENTS, Outcome.KEPT
    DOCUMENTS_WRITTEN = "documents written", Rows.OUTPUT_DOCUMENTS, Outcome.KEPT
    DOCUMENT_WITHOUT_SPLIT = "documents excluded: --splits does not list them", Rows.OUTPUT_DOCUMENTS, Outcome.EXCLUDED
    DOCUMENT_EXCLUDED_FROM_TRAINING = (
        "documents excluded from training: by --exclude-pmids",
        Rows.OUTPUT_DOCUMENTS,
        Outcome.EXCLUDED,
    )
    DOCUMENT_EXCLUDED_BY_PMID = "documents excluded: by --exclude-pmids", Rows.OUTPUT_DOCUMENTS, Outcome.EXCLUDED
    DOCUMENT_TOO_LONG = "documents excluded: longer than --max-tokens", Rows.OUTPUT_DOCUMENTS, Outcome.EXCLUDED
    DOCUMENT_WITHOUT_POSITIVE = (
        "documents excluded: they have no positive pair",
        Rows.OUTPUT_DOCUMENTS,
        Outcome.EXCLUDED,
    )
    DOCUMENT_WITH_TOO_MANY_PAIRS = (
        "documents excluded: they have too many pairs of mentions",
        Rows.OUTPUT_DOCUMENTS,
        Outcome.EXCLUDED,
    )
    DOCUMENTS_LABELLED = "documents labelled", Rows.OUTPUT_DOCUMENTS, Outcome.NOTE
    LONG_ID_UNKNOWN_TO_MESH = "MeSH ids of nine digits not found in --mesh", Rows.CONCEPTS, Outcome.NOTE
    MENTION_WITHOUT_TOKENS = "mentions not encoded: no token overlaps them", Rows.ENCODED_MENTIONS, Outcome.EXCLUDED
    MENTIONS_SHARING_TOKEN = "mentions sharing a token", Rows.ENCODED_MENTIONS, Outcome.NOTE
    PAIR_WITHOUT_TOKENS = "pairs excluded: an entity has no token", Rows.PAIRS, Outcome.EXCLUDED
    NEGATIVE_PAIR_WITHOUT_POSITIVE = (
        "negative pairs excluded: their document has no positive pair",
        Rows.PAIRS,
        Outcome.EXCLUDED,
    )
    POSITIVE_PAIR_TOO_LONG = (
        "positive pairs excluded: their document is longer than --max-tokens",
        Rows.PAIRS,
        Outcome.EXCLUDED,
    )
    NEGATIVE_PAIR_TOO_LONG = (
        "negative pairs excluded: their document is longer than --max-tokens",
        Rows.PAIRS,
        Outcome.EXCLUDED,
    )

    # training
    DOCUMENTS_USED = "documents used", Rows.OUTPUT_DOCUMENTS, Outcome.KEPT
    DOCUMENTS_HELD_OUT = "documents held out", Rows.OUTPUT_DOCUMENTS, Outcome.KEPT
    DOCUMENT_WITHOUT_KNOWN_TOKEN = (
        "documents excluded: no token is in the vocabulary",
        Rows.OUTPUT_DOCUMENTS,
        Outcome.EXCLUDED,
    )
    DOCUMENTS_ENCODED_AGAIN = "documents encoded again: the model has another vocabulary", Rows.EXAMPLES, Outcome.NOTE
    KNOWLEDGE_BRANCHES = "branches of knowledge added", Rows.EXAMPLES, Outcome.NOTE
    VECTORS_WRITTEN = "vectors written", Rows.PARAMETERS, Outcome.NOTE
    PRETRAINED_VECTORS = "tokens with a pre-trained vector", Rows.PARAMETERS, Outcome.NOTE
    PRETRAINED_PARAMETERS = "pre-trained parameters", Rows.PARAMETERS, Outcome.NOTE
    ENSEMBLE_MEMBERS = "ensemble members", Rows.PARAMETERS, Outcome.NOTE

    # scoring, extraction, aggregation
    PREDICTION_HYPERNYM = (
        "predictions excluded from the filtered score: hypernyms of a gold tail",
        Rows.PREDICTIONS,
        Outcome.NOTE,
    )
    PREDICTION_OUTSIDE_GOLD = (
        "predictions excluded: gold does not have their document",
        Rows.PREDICTIONS,
        Outcome.EXCLUDED,
    )
    DOCUMENTS_WITHOUT_GRAPH = (
        "documents read without --graph: the model was trained with one",
        Rows.EXAMPLES,
        Outcome.NOTE,
    )
    RELATIONS_READ = "relations read", Rows.RELATIONS, Outcome.READ
    RELATIONS_WRITTEN = "relations written", Rows.RELATIONS, Outcome.KEPT
    RELATIONS_AGGREGATED = "relations aggregated", Rows.RELATIONS, Outcome.KEPT
    RELATION_WITHOUT_DOCUMENT = (
        "relations excluded: --documents does not have their document",
        Rows.RELATIONS,
        Outcome.EXCLUDED,
    )
    RELATION_BELOW_MIN_SCORE = "relations excluded: below --min-score", Rows.RELATIONS, Outcome.EXCLUDED
    RELATION_REPEATED = "relations excluded: the document states them more than once", Rows.RELATIONS, Outcome.EXCLUDED
    EVIDENCE_DOCUMENT_MISSING = "documents with the best evidence missing from --documents", Rows.EXAMPLES, Outcome.NOTE
    DOCUMENT_WITHOUT_CONCEPT = (
        "documents excluded: they do not mention the concept",
        Rows.QUESTIONED_DOCUMENTS,
        Outcome.EXCLUDED,
    )
    DOCUMENT_WITHOUT_QUESTION_CONCEPT = (
        "documents excluded: they mention no concept of the question",
        Rows.QUESTIONED_DOCUMENTS,
        Outcome.EXCLUDED,
    )
