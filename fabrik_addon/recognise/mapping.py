# SPDX-License-Identifier: GPL-3.0-or-later
"""Which bones are which parts of a body, as a text that can be kept and given away; read strictly."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from ..errors import InvalidValueError, is_plain
from ..messages import Message
from .find import PLANS
from .part import LABELS, Part, RecognisedBody

VERSION = 1
MOST_CHARACTERS = 1_000_000
MOST_PARTS = 1000
MOST_BONES = 10_000
LONGEST_NAME = 256  # characters
ENDS = ("HEAD", "TAIL")
FIELDS = {"fabrik_mapping", "plan", "body", "parts"}
PART_FIELDS = {"name", "kind", "bones", "roles", "end"}


def mapping_text(mapping: RecognisedBody[str]) -> str:
    """Parts by the names of their bones as JSON."""
    parts = [
        {
            "name": part.name,
            "kind": part.kind,
            "bones": part.bones,
            "roles": part.roles,
            "end": "HEAD" if part.holds_head else "TAIL",
        }
        for part in mapping.parts
    ]
    told = {"fabrik_mapping": VERSION, "plan": mapping.plan, "body": mapping.body, "parts": parts}
    return json.dumps(told, indent=1, ensure_ascii=False) + "\n"


def with_names(text: str, names: Mapping[str, str]) -> str:
    """A mapping as JSON with new names of bones; as it is where it is none."""
    try:
        found = read_mapping(text)
    except InvalidValueError:
        return text
    parts = tuple(replace(part, bones=tuple(names.get(bone, bone) for bone in part.bones)) for part in found.parts)
    return mapping_text(replace(found, body=names.get(found.body, found.body), parts=parts))


def load_mapping(path: Path) -> RecognisedBody[str]:
    """A mapping out of a file.

    Raises:
        InvalidValueError: It can't be read, or is none; the message says where.
    """
    try:
        if not path.is_file():
            raise InvalidValueError(Message("FILE_MISSING", path=path))
        with path.open(encoding="utf-8-sig") as file:
            text = file.read(MOST_CHARACTERS + 1)
    except (OSError, ValueError) as error:
        reason = Message("FILE_UNREADABLE", path=path, error=type(error).__name__)
        raise InvalidValueError(reason) from error
    return read_mapping(text)


def read_mapping(text: str) -> RecognisedBody[str]:
    """A mapping out of JSON.

    Raises:
        InvalidValueError: It is none; the message says where.
    """
    if len(text) > MOST_CHARACTERS:
        raise InvalidValueError(Message("MAPPING_TOO_LONG", count=len(text), largest=MOST_CHARACTERS))
    try:
        data: object = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InvalidValueError(
            Message("MAPPING_UNREADABLE", name=type(error).__name__, error=str(error)[:80])
        ) from error
    fields = _fields(data, FIELDS, Message("MAPPING"))
    if fields["fabrik_mapping"] != VERSION or isinstance(fields["fabrik_mapping"], bool):
        raise InvalidValueError(Message("MAPPING_OF_OTHER_VERSION", version=VERSION))
    plan = _text(fields["plan"], "'plan'")
    if plan not in PLANS:
        raise InvalidValueError(Message("NO_SUCH_PLAN", names=", ".join(PLANS)))
    told = _list(fields["parts"], MOST_PARTS, "'parts'")
    parts = tuple(_part(one, Message("PART", number=i)) for i, one in enumerate(told, start=1))
    if len({part.name for part in parts}) < len(parts):
        raise InvalidValueError(Message("PART_NAME_TWICE"))
    return RecognisedBody(plan, _text(fields["body"], "'body'"), parts)


def _part(data: object, where: str | Message) -> Part[str]:
    fields = _fields(data, PART_FIELDS, where)
    kind = _text(fields["kind"], Message("KIND_OF", where=where))
    end = _text(fields["end"], Message("END_OF", where=where))
    if kind not in LABELS:
        raise InvalidValueError(Message("NO_SUCH_KIND", where=where, names=", ".join(LABELS)))
    if end not in ENDS:
        raise InvalidValueError(Message("NO_SUCH_END", where=where))
    name = _text(fields["name"], Message("NAME_OF", where=where))
    bones = _texts(fields["bones"], Message("BONES_OF", where=where))
    roles = _texts(fields["roles"], Message("ROLES_OF", where=where))
    if not name or not bones or not all(bones) or len(set(bones)) < len(bones) or len(roles) != len(bones):
        raise InvalidValueError(Message("PART_INCOMPLETE", where=where))
    return Part(kind, name, bones, roles, end == "HEAD")


def _fields(data: object, known: set[str], where: str | Message) -> dict[str, object]:
    if not isinstance(data, dict) or set(data) != known:
        raise InvalidValueError(Message("OTHER_FIELDS", where=where, names=", ".join(sorted(known))))
    return data


def _text(data: object, where: str | Message) -> str:
    if not isinstance(data, str) or len(data) > LONGEST_NAME or not is_plain(data):
        raise InvalidValueError(Message("NO_TEXT", where=where, longest=LONGEST_NAME))
    return data


def _list(data: object, most: int, where: str | Message) -> Sequence[object]:
    if not isinstance(data, list) or len(data) > most:
        raise InvalidValueError(Message("NO_LIST", where=where, most=most))
    return data


def _texts(data: object, where: str | Message) -> tuple[str, ...]:
    return tuple(_text(one, where) for one in _list(data, MOST_BONES, where))
