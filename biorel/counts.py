"""The books of a command: rows in = rows out + drops by reason.

A ledger is passed to whatever reads, filters or writes, so that nothing is lost in silence.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from typing import Self

EXAMPLES_KEPT = 3


class Reason(StrEnum):
    """Why a row was counted: left out, repaired, or simply read. The value is the sentence that people read."""

    # formats
    ANNOTATION_DROPPED_NAME_TAKEN = "annotation dropped: its name is taken"
    ANNOTATION_DROPPED_NO_OFFSETS = "annotation dropped: no offsets"
    ANNOTATION_ROWS = "annotation rows"
    ANSWER_DROPPED_IT_EMPTY = "answer dropped: it is empty"
    ANSWER_DROPPED_TEXT_DOES_NOT_STAND_AT_START = "answer dropped: its text does not stand at its start"
    ANSWER_MOVED_TEXT_OCCURS_ONCE = "answer moved: its text occurs once"
    BAD_RECORD = "bad record"
    CITATION_DROPPED_NO_PMID = "citation dropped: no PMID"
    CITATION_WITHOUT_TEXT = "citation without a text left out"
    CURATIONS_ADDED_AN_ARGUMENT_NAMES_SEVERAL_CONCEPTS = "curations added: an argument names several concepts"
    DELETION_PASSED_OVER = "deletion passed over"
    DOCUMENT_DROPPED_NO_ID = "document dropped: no id"
    HALF_SURROGATE_PAIR_REPLACED = "half of a surrogate pair replaced"
    MALFORMED_ROW = "malformed row skipped"
    MENTION_DROPPED_REPEATED = "mention dropped: repeated"
    MENTION_DROPPED_SPAN_DOES_NOT_SHOW_TEXT = "mention dropped: span does not show its text"
    MENTION_DROPPED_TOO_MANY_MISPLACED_ONES_TO_SEARCH_FO = "mention dropped: too many misplaced ones to search for"
    MENTION_IN_SEVERAL_PARTS_KEPT_AS_ONE_SPAN = "mention in several parts kept as one span"
    MENTIONS_ADDED_ONE_SPAN_NAMES_SEVERAL_CONCEPTS = "mentions added: one span names several concepts"
    RELATION_ROW_SKIPPED_AN_ARGUMENT_NOT_ANNOTATED = "relation row skipped: an argument is not annotated"
    RELATION_ROW_SKIPPED_AN_ARGUMENT_NAMES_NO_CONCEPT = "relation row skipped: an argument names no concept"
    RELATION_ROW_SKIPPED_NO_TYPE = "relation row skipped: no type"
    RELATION_ROW_SKIPPED_NOT_TWO_ARGUMENTS = "relation row skipped: not two arguments"
    RELATION_ROWS = "relation rows"
    RELATIONS_READ = "relations read"
    REPEATED_PMID = "repeated PMID"
    SPAN_KEPT_TEXT_WAS_NORMALISED_BY_SOURCE = "span kept: text was normalised by the source"
    SPAN_REPAIRED_TEXT_OCCURS_ONCE = "span repaired: its text occurs once"
    TRIPLES_SPO_FILES = "triples of .spo files"
    # fetch
    NUL_BYTE_REPLACED = "NUL byte replaced"
    DAMAGED_FILE_FETCHED_ANEW = "damaged file fetched anew"
    DOCUMENTS_IN_DUMP = "documents in the dump"
    DOCUMENTS_KEPT = "documents kept"
    DUPLICATE_DOCUMENT_DROPPED = "duplicate document dropped"
    FILE_COPIED = "file copied"
    FILE_FETCHED = "file fetched"
    FILE_NOT_IN_FROM = "file not in --from"
    WORDS_QUERY_NOT_FOUND_BY_PUBMED = "words of the query not found by PubMed"
    # knowledge
    CTD_FILE_NOT_READ_ANOTHER_EDITION_IT_IS = "CTD file not read: another edition of it is"
    CTD_ROW_INFERRED = "CTD row inferred"
    CTD_ROW_OTHER_ARTICLES = "CTD row of other articles"
    CTD_ROW_WITHOUT_PUBMED_ID = "CTD row without PubMed id"
    CTD_ROW_WITHOUT_ACTION = "CTD row without action"
    CTD_ROW_WITHOUT_CONCEPT_ID = "CTD row without concept id"
    CTD_ROW_WITHOUT_CONCEPT_ID_OR_NAME = "CTD row without concept id or name"
    CTD_ROWS_READ = "CTD rows read"
    CTD_TABLE_ABSENT = "CTD table absent"
    CTD_VOCABULARY_ABSENT = "CTD vocabulary absent"
    MESH_TERMS = "MeSH terms"
    PUBMED_ID_NOT_NUMBER = "PubMed id left out: not a number"
    ALTERNATE_DISEASE_ID_IT_NOT_ONE_DISEASE_ALONE = "alternate disease id left out: it is not one disease's alone"
    ALTERNATE_IDS_NOT_ONE_CONCEPT_ALONE = "alternate ids left out: not one concept's alone"
    CONCEPTS_NAMED_BY_CTD = "concepts named by CTD"
    CURATED_TRIPLE_OBJECT_HAS_NO_NAME = "curated triple left out: its object has no name"
    CURATION_CONCEPT_WITH_ITSELF = "curation of a concept with itself left out"
    CURATION_AN_EXCLUDED_ARTICLE = "curation of an excluded article left out"
    INFERRED_CURATION = "inferred curation left out"
    IS_A_CONCEPT_WITHOUT_NAME = "is_a left out: a concept without a name"
    IS_IT_CLOSES_CIRCLE = "is_a left out: it closes a circle"
    KNOWN_PAIR_EXCLUDED_ARTICLES_ALONE = "known pair of excluded articles alone left out"
    KNOWN_PAIR_WITHOUT_TWO_IDS = "known pair without two ids"
    KNOWN_PAIRS = "known pairs"
    MALFORMED_RECORD_SKIPPED = "malformed record skipped"
    MTREES_NAME_NO_DESCRIPTOR = "mtrees name of no descriptor"
    NOT_MESH_TREE_NUMBER = "not a MeSH tree number"
    REPEATED_TRIPLE = "repeated triple left out"
    TRIPLES_CTD = "triples of CTD"
    TRIPLES_MESH = "triples of MeSH"
    # dataset
    DOCUMENT_IN_NO_SPLIT_SPLITS = "document in no split of --splits left out"
    DOCUMENT_KEPT_OUT_TRAINING_BY_EXCLUDE_PMIDS = "document kept out of training by --exclude-pmids"
    IDS_NINE_DIGITS_THAT_MESH_DOES_NOT_KNOW = "ids of nine digits that --mesh does not know"
    MENTION_WITHOUT_TOKEN = "mention without a token"
    MENTIONS_THAT_SHARE_TOKEN_WHICH_TOKENIZER_DOES_NOT_P = (
        "mentions that share a token, which the tokenizer does not part"
    )
    PAIR_WITHOUT_TOKENS = "pair without tokens"
    # training
    DOCUMENT_WITHOUT_KNOWN_TOKEN = "document without a known token"
    DOCUMENTS_ENCODED_ANEW_AS_MODEL_HAS_ANOTHER_VOCABULA = "documents encoded anew, as the model has another vocabulary"
    DOCUMENTS_USED = "documents used"
    VECTORS_WRITTEN = "vectors written"
    # linking
    MESH_CONCEPTS_OTHER_BRANCHES = "MeSH concepts of other branches"
    TRAINING_MENTIONS = "training mentions"
    TRAINING_MENTIONS_WITHOUT_AN_ID = "training mentions without an id"
    # ner
    ANNOTATED_DOCUMENTS_DROPPED_REPEATED = "annotated documents dropped: repeated"
    ANNOTATIONS_READ = "annotations read"
    BATCHES_TAGGED_ONE_BY_ONE_COMPONENT_FAILED = "batches tagged one by one: a component failed"
    DOCUMENTS_ANNOTATED_ON_ANOTHER_EDITION_TEXT = "documents annotated on another edition of the text"
    DOCUMENTS_NOT_TAGGED_MODEL_FAILED = "documents not tagged: the model failed"
    DOCUMENTS_TAGGED_WITHOUT_OTHER_COMPONENTS = "documents tagged without the other components"
    DOCUMENTS_WITHOUT_TOKEN = "documents without a token"
    DOCUMENTS_WITHOUT_ANNOTATIONS = "documents without annotations"
    LEXICON_NAME_DROPPED_TOO_SHORT_OR_WITHOUT_LETTER = "lexicon name dropped: too short or without a letter"
    LEXICON_NAMES = "lexicon names"
    MENTIONS_ADDED_NAMED_SO_ELSEWHERE_IN_DOCUMENT = "mentions added: named so elsewhere in the document"
    # scoring
    PREDICTED_HYPERNYMS_GOLD_TAIL_NOT_COUNTED_WHEN_FILTE = (
        "predicted hypernyms of a gold tail, not counted when filtered"
    )
    # qa
    BAD_RECORDS = "bad records"
    DOCUMENTS_DROPPED_REPEATED = "documents dropped: repeated"
    DOCUMENTS_TAGGED = "documents tagged"
    DOCUMENTS_THAT_DO_NOT_MENTION_CONCEPT = "documents that do not mention the concept"
    DOCUMENTS_THAT_MENTION_NOTHING_THAT_QUESTION_NAMES = "documents that mention nothing that the question names"
    # commands
    DEV_DOCUMENTS_DOCUMENTS_HAS_THEM = "--dev documents left out: --documents has them"
    PMIDS_ASKED_FOR = "PMIDs asked for"
    ABSTRACT_FROM_OTHERABSTRACT = "abstract from OtherAbstract"
    BRANCHES_KNOWLEDGE = "branches of knowledge"
    CITATION_DROPPED_LATER_VERSION_STANDS = "citation dropped: a later version stands"
    CITATION_DROPPED_BEYOND_MAX = "citation dropped: beyond --max"
    CITATION_DROPPED_DELETED_FROM_PUBMED = "citation dropped: deleted from PubMed"
    CITATION_DROPPED_NEITHER_TITLE_NOR_ABSTRACT = "citation dropped: neither title nor abstract"
    CITATIONS_READ = "citations read"
    DOCUMENT_EXCLUDE_PMIDS = "document of --exclude-pmids left out"
    DOCUMENT_OVER_MAX_TOKENS = "document over --max-tokens left out"
    DOCUMENT_WITHOUT_POSITIVE = "document without a positive left out"
    DOCUMENTS_LABELLED = "documents labelled"
    DOCUMENTS_BEST_EVIDENCE_THAT_DOCUMENTS_DOES_NOT_HOLD = "documents of a best evidence that --documents does not hold"
    DOCUMENTS_READ = "documents read"
    DOCUMENTS_READ_WITHOUT_GRAPH_THOUGH_MODEL_LEARNED_WI = (
        "documents read without --graph, though the model learned with one"
    )
    DOCUMENTS_WRITTEN = "documents written"
    FILES_UNPACKED = "files unpacked"
    MEMBERS = "members"
    MENTIONS_WITHOUT_CONCEPT_ID = "mentions without concept id"
    MENTIONS_WRITTEN = "mentions written"
    MISSING_PMIDS = "missing PMIDs"
    NAMES_WRITTEN = "names written"
    NEGATIVE_PAIRS_WITHOUT_POSITIVE = "negative pairs without a positive"
    PRE_TRAINED_PARAMETERS = "pre-trained parameters"
    QUESTIONS_READ = "questions read"
    RELATIONS_BELOW_MIN_SCORE = "relations below --min-score"
    RELATIONS_TOLD_AGAIN_SAME_DOCUMENT = "relations told again of the same document"
    RELATIONS_WRITTEN = "relations written"
    TOKENS_WITH_PRE_TRAINED_VECTOR = "tokens with a pre-trained vector"
    TRIPLES_BELOW_MIN_SUPPORT = "triples below --min-support"
    TRIPLES_WRITTEN = "triples written"
    UNANSWERABLE_QUESTIONS_BY_UNANSWERABLE = "unanswerable questions left out by --unanswerable"


class Counts:
    """Counts by reason, with the first few places where each reason occurred."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()
        self._examples: dict[str, list[str]] = {}

    @classmethod
    def of(cls, counts: Mapping[str, int], examples: Mapping[str, Sequence[str]]) -> Self:
        """The books that gave these counts and examples."""
        books = cls()
        books._counts.update(counts)
        books._examples.update({reason: list(places) for reason, places in examples.items()})
        return books

    def add(self, reason: str, place: str = "", count: int = 1) -> None:
        """Book `count` rows under `reason`; `place` (file:line, id) is kept as an example."""
        self._counts[reason] += count
        if place:
            examples = self._examples.setdefault(reason, [])
            if len(examples) < EXAMPLES_KEPT:
                examples.append(place)

    def include(self, books: Counts, named: Callable[[str], str] = str) -> None:
        """Book all that other books hold, under what `named` makes of each reason."""
        for reason, count in books._counts.items():
            places = books._examples.get(reason, [])
            for place in places:
                self.add(named(reason), place)
            self.add(named(reason), count=count - len(places))

    def __getitem__(self, reason: str) -> int:
        return self._counts[reason]

    @property
    def by_reason(self) -> Mapping[str, int]:
        """Counts by reason, in alphabetical order."""
        return dict(sorted(self._counts.items()))

    @property
    def examples(self) -> Mapping[str, list[str]]:
        return {reason: list(places) for reason, places in sorted(self._examples.items())}
