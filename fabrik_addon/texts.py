# SPDX-License-Identifier: GPL-3.0-or-later
"""Texts that are made in English and can still be told in another language: they know what they were made of.

Scripts, the command line and what is stored in files have the English text, for this is a string like any other. What
shows it to the user hands it to `translations`, which looks up the template and fills in the fields then.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from .messages import Message

PACKAGE = __package__ or ""  # the name under which Blender loaded this package


class Text(str):
    """A text for the user, in English.

    Attributes:
        template: What is looked up, with names in braces where the fields come in.
        fields: What comes in there: numbers, names, which are left as they are, and other such texts or
            messages.
    """

    template: str
    fields: Mapping[str, object]

    def __new__(cls, template: str, /, **fields: object) -> Text:
        found = super().__new__(cls, template.format(**fields) if fields else template)
        found.template, found.fields = template, fields
        return found


def worded(message: str | Message) -> Text:
    """What a lower layer has to say as a text, which can be a part of others."""
    return Text(message.template, **message.fields) if isinstance(message, Text | Message) else Text(message)


def counted(count: int, one: str, many: str) -> Text:
    """A number of things in words, by a template for 1 and one for all other numbers, with `{count}` in it."""
    return Text(one) if count == 1 else Text(many, count=count)


def joined(separator: str, parts: Iterable[str | Message]) -> Text:
    """Texts one after the other, with a separator between them that has no braces."""
    fields = {f"part{i}": part for i, part in enumerate(parts)}
    return Text(separator.join([f"{{{name}}}" for name in fields]), **fields)


def enumerated(names: Sequence[str | Message]) -> Text:
    """Names, or texts, one after the other: a, b and c."""
    if len(names) < 2:
        return joined("", names)
    return Text("{names} and {last}", names=joined(", ", names[:-1]), last=names[-1])


def quoted(names: Iterable[str]) -> Text:
    """Names in quotes, one after the other."""
    return enumerated([f"'{name}'" for name in names])


def few(names: Sequence[str], most: int) -> str:
    """A few names of bones in quotes, or how many there are."""
    return ", ".join(f"'{name}'" for name in names) if len(names) <= most else Text("{count} bones", count=len(names))


def capitalised(text: str) -> str:
    """A text with a capital letter at its start."""
    return text[:1].upper() + text[1:]
