"""Batches of any shape: rows, inputs and labels."""
import collections
import dataclasses
import unittest

import numpy as np
import torch
from torch.utils.data import DataLoader

from cull.torch import batches

ROWS = torch.tensor([0, 2])


@dataclasses.dataclass(frozen=True)
class Record:
    pixels: torch.Tensor
    labels: torch.Tensor
    note: str = "kept"


class Encoding(collections.UserDict):
    """As Hugging Face's BatchEncoding: keys, and attributes for them."""

    def __getattr__(self, name):
        try:
            return self.data[name]
        except KeyError:
            raise AttributeError(name) from None


Pair = collections.namedtuple("Pair", "x y")
Named = collections.namedtuple("Named", "image label path")


class TakingRows(unittest.TestCase):
    def test_every_kind_of_batch_keeps_its_type(self):
        x, y = torch.arange(12.).reshape(4, 3), torch.arange(4)
        wanted = x[ROWS]
        self.assertTrue(torch.equal(batches.take(x, ROWS), wanted))
        for made in ((x, y), [x, y], Pair(x, y)):
            found = batches.take(made, ROWS)
            self.assertIs(type(found), type(made))
            self.assertTrue(torch.equal(found[0], wanted))
            self.assertEqual(found[1].tolist(), [0, 2])
        for made in ({"x": x, "labels": y}, collections.OrderedDict(x=x, labels=y),
                     Encoding(x=x, labels=y), collections.defaultdict(list, x=x, labels=y)):
            found = batches.take(made, ROWS)
            self.assertIs(type(found), type(made))
            self.assertTrue(torch.equal(found["x"], wanted))
            self.assertIs(made["x"], x, "the batch itself stays as it was")
        found = batches.take(Record(x, y), ROWS)
        self.assertEqual((found.labels.tolist(), found.note), ([0, 2], "kept"))

    def test_nested_parts_texts_arrays_and_numbers(self):
        made = {"in": (torch.arange(4), np.arange(4)), "name": list("abcd"), "scale": 2.0,
                "one": torch.tensor(7), "none": None}
        found = batches.take(made, ROWS)
        self.assertEqual(found["in"][0].tolist(), [0, 2])
        self.assertEqual(found["in"][1].tolist(), [0, 2])
        self.assertEqual(found["name"], ["a", "c"])
        self.assertEqual((found["scale"], found["one"].item(), found["none"]), (2.0, 7, None))

    def test_tuples_and_lists_of_lists_are_columns_too(self):
        made = {"x": torch.arange(4), "name": tuple("abcd"), "tags": [["p"], [], ["q", "r"], ["s"]],
                "meta": [{"id": i} for i in range(4)], "none": []}
        found = batches.take(made, ROWS)
        self.assertEqual(found["name"], ("a", "c"))
        self.assertEqual(found["tags"], [["p"], ["q", "r"]])
        self.assertEqual((found["meta"], found["none"]), ([{"id": 0}, {"id": 2}], []))
        # as default_collate leaves three texts an item
        found = batches.take((torch.arange(4), [tuple("abcd"), tuple("efgh"), tuple("ijkl")]), ROWS)
        self.assertEqual(found[1], [("a", "c"), ("e", "g"), ("i", "k")])

    def test_items_with_texts_through_a_loader(self):
        items = [(torch.tensor([float(i)]), i, f"name {i}") for i in range(8)]
        for x, y, name in DataLoader(items, batch_size=4):
            found = batches.take((x, y, name), ROWS)
            self.assertEqual(found[1].tolist(), found[0][:, 0].tolist())
            self.assertEqual(list(found[2]), [f"name {i}" for i in found[1].tolist()])
            self.assertIs(type(found[2]), type(name))

    def test_columns_of_another_length_are_refused_by_name(self):
        for wrong in (["a", "b", "c"], ("a", "b", "c"), [["a"], ["b"], ["c"]], [{"a": 1}] * 3):
            with self.assertRaisesRegex(ValueError, "take="):
                batches.take({"x": torch.zeros(4), "names": wrong}, ROWS)
        with self.assertRaisesRegex(ValueError, "take="):     # rows, or columns?
            batches.take((torch.zeros(2), [("a", "b"), ("c", "d")]), torch.tensor([0]))

    def test_rows_may_repeat(self):
        self.assertEqual(batches.take(torch.arange(4), torch.tensor([1, 1])).tolist(), [1, 1])

    def test_what_has_no_rows_is_refused_by_name(self):
        with self.assertRaisesRegex(ValueError, "'y' has the shape"):
            batches.take({"x": torch.zeros(4, 2), "y": torch.zeros(3)}, ROWS)
        with self.assertRaisesRegex(TypeError, "pass take="):
            batches.take((torch.zeros(4), object()), ROWS)
        packed = torch.nn.utils.rnn.pack_sequence([torch.zeros(2), torch.zeros(1)])
        with self.assertRaisesRegex(TypeError, "PackedSequence"):
            batches.take((torch.zeros(2), packed), torch.tensor([0]))

    def test_a_batch_without_a_batch_dimension_is_refused(self):
        with self.assertRaisesRegex(ValueError, "no batch dimension"):
            batches.size((torch.tensor(1.0), torch.tensor(2)))
        with self.assertRaisesRegex(TypeError, "no tensor"):
            batches.size({"a": "text"})
        with self.assertRaisesRegex(ValueError, "empty"):
            batches.size(torch.zeros(0, 3))


class Splitting(unittest.TestCase):
    def test_inputs_and_labels_are_found(self):
        x, y = torch.zeros(4, 3), torch.arange(4)
        for made in ((x, y), [x, y], Pair(x, y)):
            found = batches.split(made)
            self.assertIs(found.labels, y)
        self.assertIs(batches.split(Named(x, y, None)).labels, y)
        found = batches.split(Encoding(input_ids=x, attention_mask=x, labels=y, index=y))
        self.assertEqual(sorted(found.inputs), ["attention_mask", "input_ids"])
        self.assertIs(found.labels, y)
        self.assertEqual(batches.split(Record(x, y)).labels.tolist(), y.tolist())
        for alone in (x, (x,), [x]):
            self.assertIs(batches.split(alone).labels, x)
            self.assertIs(batches.split(alone).inputs, x)

    def test_what_has_no_labels_says_how_to_tell(self):
        with self.assertRaisesRegex(ValueError, "pass split="):
            batches.split({"x": torch.zeros(4)})
        with self.assertRaisesRegex(ValueError, "index="):
            batches.split((torch.zeros(4), torch.zeros(4), torch.zeros(4)))

    def test_models_are_called_by_name_or_by_position(self):
        def forward(ids, mask):
            return ids - mask

        one, two = torch.ones(2), torch.full((2,), 2.0)
        self.assertEqual(batches.call(forward, forward, {"mask": one, "ids": two}).tolist(), [1, 1])
        self.assertEqual(batches.call(forward, forward, (two, one)).tolist(), [1, 1])
        self.assertEqual(batches.call(torch.neg, lambda x: x, {"image": one}).tolist(), [-1, -1])


class Parts(unittest.TestCase):
    def test_indices_are_found_and_taken_out(self):
        x, y, i = torch.zeros(3, 2), torch.arange(3), torch.tensor([7, 8, 9])
        self.assertIs(batches.part_of((x, y, i), -1), i)
        self.assertEqual(len(batches.without([x, y, i], -1)), 2)
        self.assertIs(batches.without((x, y, i), 0)[1], i)
        self.assertIs(batches.part_of({"x": x, "at": i}, "at"), i)
        self.assertEqual(list(batches.without({"x": x, "at": i}, "at")), ["x"])
        self.assertIs(batches.part_of((x, y), lambda b: b[1]), y)

    def test_indices_are_whole_numbers(self):
        self.assertEqual(batches.to_indices(np.array([3, 1], np.int32), 2).dtype, torch.int64)
        with self.assertRaisesRegex(TypeError, "whole numbers"):
            batches.to_indices(torch.tensor([1.0, 2.0]), 2)
        with self.assertRaisesRegex(ValueError, "3 rows"):
            batches.to_indices([1, 2], 3)


if __name__ == "__main__":
    unittest.main()
