"""Label tables compared by their text: readers keep each different text once."""

from pandas.testing import assert_frame_equal


def assert_same_labels(found, expected):
    def text(table):
        return table.astype(dict.fromkeys(("task", "worker", "label"), object))

    assert_frame_equal(text(found), text(expected))
