"""Reading the lines of text files: gzip, byte-order marks, line ends, and messages that name the line."""

from __future__ import annotations

import gzip

import pytest

from biorel.counts import Reason
from biorel.errors import InputError
from biorel.formats.files import read_head, read_lines

LINES = [(1, "first"), (2, "second µ")]


@pytest.mark.parametrize("name", ["plain.txt", "packed.txt.gz"])
def test_numbers_lines_of_plain_and_gzip_files(write, counts, name):
    assert list(read_lines(write(name, "first\nsecond µ\n"), counts)) == LINES


def test_recognises_gzip_by_its_bytes_not_its_name(write, counts):
    assert list(read_lines(write("no_suffix", gzip.compress("first\nsecond µ\n".encode())), counts)) == LINES
    misnamed = write("plain", "first\nsecond µ\n").rename(write("x", "").with_name("plain.gz"))
    assert list(read_lines(misnamed, counts)) == LINES


@pytest.mark.parametrize("content", ["\ufefffirst\nsecond µ", "first\r\nsecond µ\r\n", "\ufefffirst\r\nsecond µ"])
def test_removes_byte_order_marks_and_carriage_returns(write, counts, content):
    assert list(read_lines(write("a", content), counts)) == LINES


def test_only_line_feeds_end_a_line(write, counts):
    text = "a\u2028b\x85c\rd\x0be"
    assert list(read_lines(write("a", f"{text}\nnext"), counts)) == [(1, text), (2, "next")]


def test_replaces_and_counts_nul_bytes(write, counts):
    path = write("a", b"ok\nab\0cd\n")
    assert list(read_lines(path, counts)) == [(1, "ok"), (2, "ab cd")]
    assert counts[Reason.NUL_REPLACED] == 1
    assert counts.examples[Reason.NUL_REPLACED] == [f"{path}:2"]


def test_names_the_line_of_bytes_that_are_not_utf8(write, counts):
    path = write("a", b"one\ntwo\n\xb5g of drug\n")
    lines = read_lines(path, counts)
    assert [next(lines), next(lines)] == [(1, "one"), (2, "two")]
    with pytest.raises(InputError, match=r"a:3: not UTF-8 \(byte 0xb5\)"):
        next(lines)


@pytest.mark.parametrize("cut", [8, 12, 20])
def test_F06_a_cut_gzip_file_is_an_error_that_names_it(write, counts, cut):
    whole = gzip.compress(("row\n" * 50_000).encode(), compresslevel=0)
    path = write("cut.gz", b"")
    path.write_bytes(whole[:-cut])
    with pytest.raises(InputError, match=r"cut\.gz: damaged gzip file"):
        list(read_lines(path, counts))


def test_rejects_missing_files_and_folders(tmp_path, counts):
    with pytest.raises(InputError, match="absent: no such file"):
        list(read_lines(tmp_path / "absent", counts))
    with pytest.raises(InputError, match="this is a folder, but a file is needed"):
        list(read_lines(tmp_path, counts))


def test_head_is_unpacked_without_mark_and_blanks(write):
    assert read_head(write("a.gz", "\ufeff \n {x")) == b"{x"
    assert read_head(write("empty", "")) == b""
    assert read_head(write("long", "x" * 100), size=10) == b"x" * 10
