"""Model folders of readers: those that this version writes, and those of earlier versions."""

from __future__ import annotations

import re

import pytest
import torch
from safetensors.torch import load_file, save_file

from biorel.errors import BiorelError
from biorel.qa.decoding import Decoding
from biorel.qa.folder import ReaderFolder, open_reader, save_reader
from biorel.qa.heads import HEADS
from biorel.qa.reader import Reader
from biorel.qa.reader_config import ReaderConfig
from biorel.text.tokenizer import learn_bpe
from tests.builders import RESOURCES

TOKENIZER = learn_bpe(["Lithium caused tremor."], 60)


def saved(folder, *, head="labels", encoder="dgcnn"):
    torch.manual_seed(0)
    size = {"width": 8, "embedding": 6, "positions": 4, "dilations": (1, 2), "heads": 2}
    reader = Reader(ReaderConfig(vocabulary=TOKENIZER.get_vocab_size(), head=head, encoder=encoder, **size)).eval()
    folder.mkdir()
    save_reader(folder, ReaderFolder((reader,), TOKENIZER, Decoding("mean", 9, 0.3, 0.2)), {}, "card\n")
    return reader


def assert_equal_weights(first, second):
    first, second = first.state_dict(), second.state_dict()
    assert list(first) == list(second)
    assert all(torch.equal(first[name], second[name]) for name in first)


@pytest.mark.parametrize("head", HEADS)
@pytest.mark.parametrize("encoder", ["dgcnn", "bran"])
def test_a_saved_reader_is_read_unchanged(tmp_path, head, encoder):
    reader = saved(tmp_path / "r", head=head, encoder=encoder)
    opened = open_reader(tmp_path / "r")
    assert opened.readers[0].config == reader.config
    assert opened.decoding == Decoding("mean", 9, 0.3, 0.2)
    assert_equal_weights(opened.readers[0], reader)


def test_reads_the_shipped_reader():
    opened = open_reader(RESOURCES / "models" / "reader")
    assert (opened.readers[0].config.head, opened.readers[0].config.encoder) == ("labels", "dgcnn")


def test_reads_the_weight_names_of_earlier_versions(tmp_path):
    """Attention and convolutions of BRAN's blocks were one list, `halves`."""
    reader = saved(tmp_path / "r", encoder="bran")
    path = tmp_path / "r" / "model.safetensors"
    earlier = {}
    for name, tensor in load_file(path).items():
        found = re.search(r"blocks\.(\d+)\.(attention|convolutions)\.", name)
        half = 2 * int(found[1]) + (found[2] == "convolutions") if found else 0
        earlier[name.replace(found[0], f"halves.{half}.") if found else name] = tensor
    assert sum(".halves." in name for name in earlier) > 20
    save_file(earlier, path)
    assert_equal_weights(open_reader(tmp_path / "r").readers[0], reader)


@pytest.mark.parametrize("name", ["config.json", "decoding.json", "model.safetensors", "tokenizer.json"])
def test_rejects_a_folder_with_a_damaged_file(tmp_path, name):
    saved(tmp_path / "r")
    (tmp_path / "r" / name).write_bytes(b"[]")
    with pytest.raises(BiorelError, match=re.escape(name)):
        open_reader(tmp_path / "r")
