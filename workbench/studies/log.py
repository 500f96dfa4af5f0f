"""Whether the write-ahead log that a killed writer left is damaged.

SQLite takes the first frame whose checksum fails for the end of the log, and drops all after it
without a word: right after a kill, wrong after a flipped bit, which would lose what had been
acknowledged. The two differ in what follows: after a kill nothing, after a flip sound frames.
A flip in the very last frame cannot be told from a kill.

May import nothing of the workbench.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path
from typing import TypeAlias

Sums: TypeAlias = tuple[int, int]
HEADER, FRAME = 32, 24
"""Bytes of the log's header and of each frame's (SQLite's file format, section 4.1)."""
MAGIC = (0x377F0682, 0x377F0683)


def damaged(store: Path) -> bool:
    """Whether sound frames of a store's log come after one that is not."""
    log = store.with_name(store.name + "-wal")
    try:
        data = log.read_bytes()
    except OSError:
        return False
    if len(data) <= HEADER:
        return False
    magic, _, page, _, salt_1, salt_2, *sums = struct.unpack(">8I", data[:HEADER])
    if magic not in MAGIC or _sum(data[:24], (0, 0), magic) != tuple(sums):
        return True  # the header is on the disk before any frame is
    sound = list(_frames(data, page, (salt_1, salt_2), (sums[0], sums[1]), magic))
    return False in sound and any(sound[sound.index(False) :])


def _frames(data: bytes, page: int, salts: Sums, before: Sums, magic: int) -> Iterator[bool]:
    """Tell of each frame whether its checksum follows from it and the frame before it."""
    for at in range(HEADER, len(data) - FRAME - page + 1, FRAME + page):
        _, _, salt_1, salt_2, *sums = struct.unpack_from(">6I", data, at)
        content = data[at : at + 8] + data[at + FRAME : at + FRAME + page]
        # Frames of an earlier log, longer than this one, have other salts.
        yield (salt_1, salt_2) == salts and _sum(content, before, magic) == tuple(sums)
        before = sums[0], sums[1]


def _sum(content: bytes, sums: Sums, magic: int) -> Sums:
    order = ">" if magic & 1 else "<"
    words = struct.unpack(f"{order}{len(content) // 4}I", content)
    first, second = sums
    for at in range(0, len(words), 2):
        first = (first + words[at] + second) & 0xFFFFFFFF
        second = (second + words[at + 1] + first) & 0xFFFFFFFF
    return first, second
