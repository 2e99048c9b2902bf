# SPDX-License-Identifier: GPL-3.0-or-later
"""What all stored properties have in common, and the views that make attributes of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar, Generic, Protocol, TypeVar, cast, overload

import bpy

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


class Items(Protocol[T_co]):
    """What a stored collection can do; the stubs of Blender's versions name its type differently."""

    def __len__(self) -> int: ...
    def __iter__(self) -> Iterator[T_co]: ...
    def __getitem__(self, key: int | str) -> T_co: ...
    def __contains__(self, name: str) -> bool: ...
    def get(self, name: str) -> T_co | None: ...
    def add(self) -> T_co: ...
    def remove(self, index: int) -> None: ...
    def move(self, index: int, to: int) -> None: ...
    def clear(self) -> None: ...
    def foreach_get(self, attr: str, seq: Any) -> None: ...
    def foreach_set(self, attr: str, seq: Any) -> None: ...


OVERRIDE: Any = {"LIBRARY_OVERRIDABLE"}
OVERRIDE_COLLECTION: Any = {"LIBRARY_OVERRIDABLE", "USE_INSERTION"}


class View:
    """What is stored flat on `Object`, as attributes under shorter names.

    Attributes:
        prefix: What comes before each name on the object.
        owner: The armature object.
    """

    __slots__ = ("owner",)
    prefix: ClassVar[str] = "fabrik_"

    def __init__(self, owner: bpy.types.Object) -> None:
        self.owner = owner


class Stored(Generic[T]):
    """An attribute of a view that stands for the property of `Object` with the view's prefix before its name."""

    def __set_name__(self, view: type[View], name: str) -> None:
        self.name = view.prefix + name
        self.__doc__ = f"See the property `Object.{self.name}`."

    @overload
    def __get__(self, view: None, cls: type) -> Stored[T]: ...
    @overload
    def __get__(self, view: View, cls: type) -> T: ...
    def __get__(self, view: View | None, cls: type) -> T | Stored[T]:
        return self if view is None else cast(T, getattr(view.owner, self.name))

    def __set__(self, view: View, value: T) -> None:
        setattr(view.owner, self.name, value)
