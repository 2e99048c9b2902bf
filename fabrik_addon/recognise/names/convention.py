# SPDX-License-Identifier: GPL-3.0-or-later
"""What a convention for the names of bones is made of.

The keys of a rig, from the names of all its bones: `["".join(words) for words in telling_words(names)]`; see
`words.py`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Convention:
    """A convention. A key is what `words.telling_words` leaves of a name, joined: no prefix, no side, in lower case.

    Attributes:
        label: What it is called.
        marks: Keys that a skeleton of this convention has, with a space between; `a|b` means either.
        parts: For each part, by its name in `part_names.PARTS`, the keys of its bones, with a space between.
        part_of: The part of each key.
    """

    label: str
    marks: str
    parts: Mapping[str, str]
    part_of: Mapping[str, str] = field(init=False)

    def __post_init__(self) -> None:
        found = {key: part for part, keys in self.parts.items() for key in keys.split()}
        object.__setattr__(self, "part_of", found)

    def fit(self, keys: Collection[str]) -> int:
        """How many of the keys of a skeleton are of this convention; 0 where one of its marks is missing."""
        is_marked = all(any(key in keys for key in mark.split("|")) for mark in self.marks.split())
        return sum(key in self.part_of for key in keys) if is_marked else 0
