# SPDX-License-Identifier: GPL-3.0-or-later
"""What is stored in the file, written down as the body of a class: a table of name, type, texts and options.

In a class whose items Blender makes (`group`) the fields become the annotations by which Blender registers them. What
is stored flat on an object, a bone or a scene is read and written by a `View` of it, whose fields stand for the
properties of the owner with a prefix before their names. What operators and preferences have (`Options`) is written
down in the same words. To a type checker each is an attribute of the stored type. That a stored field has changed is
announced to `Changes`, which tells who is to hear of chains that are held or switched on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from operator import attrgetter
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Protocol, TypeVar, cast

import bpy
from bpy import props

if TYPE_CHECKING:
    from .chain import FabrikChain


T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)
Owner = TypeVar("Owner", bound=bpy.types.bpy_struct)
Update = Callable[[Any, bpy.types.Context], None]

NO_ROTATION = (1.0, 0.0, 0.0, 0.0)
HIDDEN = {"HIDDEN"}
FORGOTTEN = {"SKIP_SAVE"}  # options of what an operator begins with anew each time
NO_KEYS: set[str] = set()  # options of what can't be animated
NO_OTHERS: Sequence[str] = ()  # slots of a view; of a literal, type checkers would say that its fields can't be set


class Items(Protocol[T_co]):
    """What a stored collection can do; the stubs of Blender's versions name its type differently."""

    def __len__(self) -> int: ...
    def __iter__(self) -> Iterator[T_co]: ...
    def __getitem__(self, key: int | str) -> T_co: ...
    def __contains__(self, name: str) -> bool: ...
    def get(self, name: str) -> T_co | None: ...
    def find(self, name: str) -> int: ...
    def add(self) -> T_co: ...
    def remove(self, index: int) -> None: ...
    def move(self, index: int, to: int) -> None: ...
    def clear(self) -> None: ...
    def foreach_get(self, attr: str, seq: Any) -> None: ...
    def foreach_set(self, attr: str, seq: Any) -> None: ...


class Field:
    """A property of what Blender registers.

    Attributes:
        make: Blender's function for properties of its type.
        options: With which that is called.
        path: Name of the property on the owner of a view.
    """

    __slots__ = ("make", "options", "path")

    def __init__(self, make: Callable[..., Any], name: str, description: str, options: dict[str, Any]) -> None:
        told = {"name": name, "description": description}
        self.make = make
        self.options: dict[str, Any] = {key: text for key, text in told.items() if text} | options
        self.path = ""

    def bind(self, name: str, path: str, update: Update | None) -> None:
        """Store it in the file by its path on what has it, where library overrides may have another value of it.

        A field that has no callback of its own calls `update` after a change.
        """
        self.path = path
        is_list = self.make is props.CollectionProperty
        self.options.setdefault("override", {"LIBRARY_OVERRIDABLE", *(("USE_INSERTION",) if is_list else ())})
        if update is not None and not is_list:  # which calls nothing
            self.options.setdefault("update", update)

    def definition(self) -> Any:
        """What Blender registers."""
        return self.make(**self.options)

    def of_owner(self) -> property:
        """The attribute of a view that reads and writes what its owner has."""

        def write(view: View[Any], value: object) -> None:
            setattr(view.owner, self.path, value)

        return property(attrgetter(f"owner.{self.path}"), write)


def switch(name: str = "", description: str = "", **options: Any) -> bool:
    """Something that is on or off."""
    return cast("bool", Field(props.BoolProperty, name, description, options))


def whole(name: str = "", description: str = "", **options: Any) -> int:
    """A whole number."""
    return cast("int", Field(props.IntProperty, name, description, options))


def real(name: str = "", description: str = "", **options: Any) -> float:
    """A number."""
    return cast("float", Field(props.FloatProperty, name, description, options))


def share(name: str = "", description: str = "", **options: Any) -> float:
    """A number from 0 to 1, shown as a slider."""
    return real(name, description, subtype="FACTOR", min=0.0, max=1.0, **options)


def angle(name: str = "", description: str = "", **options: Any) -> float:
    """An angle in radians, shown in degrees."""
    return real(name, description, subtype="ANGLE", **options)


def vector(name: str = "", description: str = "", **options: Any) -> Any:
    """Several numbers; `size` says how many."""
    return Field(props.FloatVectorProperty, name, description, options)


def rotation(name: str = "", description: str = "", **options: Any) -> Any:
    """A rotation as a quaternion (w, x, y, z), at first none."""
    return vector(name, description, size=4, subtype="QUATERNION", default=NO_ROTATION, **options)


def text(name: str = "", description: str = "", **options: Any) -> str:
    """A text, or the name of something."""
    return cast("str", Field(props.StringProperty, name, description, options))


def raw() -> bytes:
    """Bytes that no panel shows; Blender evaluates nothing when they are written."""
    return cast(
        "bytes", Field(props.StringProperty, "", "", {"subtype": "BYTE_STRING", "options": HIDDEN, "override": set()})
    )


def choice(items: Sequence[tuple[Any, ...]], name: str, description: str = "", **options: Any) -> str:
    """One of several identifiers; `items` are as Blender's."""
    return cast("str", Field(props.EnumProperty, name, description, {"items": items, **options}))


def chosen(name: str, *values: str) -> bool:
    """Whether the choice of a name is one of some; not stored, so that one place alone knows their words."""
    return cast("bool", property(lambda item: getattr(item, name) in values))


def pointer(kind: type[T], name: str, description: str, **options: Any) -> T | None:
    """Another thing of the file, or None."""
    found: Any = Field(props.PointerProperty, name, description, {"type": kind, **options})
    return cast(T, found)


def items(kind: type[T], name: str = "", description: str = "", **options: Any) -> Items[T]:
    """A list of items of a group's class."""
    return cast("Items[T]", Field(props.CollectionProperty, name, description, {"type": kind, **options}))


def _fields_in(cls: type) -> dict[str, Field]:
    """The fields that stand in the body of a class, by their names."""
    return {name: member for name, member in vars(cls).items() if isinstance(member, Field)}


def group(update: Update | None = None) -> Callable[[type[T]], type[T]]:
    """A class, or a part of one, whose fields Blender registers with it; those without a callback call `update`."""

    def annotated(cls: type[T]) -> type[T]:
        for name, field in _fields_in(cls).items():
            field.bind(name, name, update)
        _annotate(cls)
        return cls

    return annotated


class Options:
    """What has options, which no file stores: an operator, preferences, or a part of one."""

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        _annotate(cls)


def _annotate(cls: type) -> None:
    """Make the fields in the body of a class the annotations by which Blender registers them."""
    found = _fields_in(cls)
    for name in found:
        delattr(cls, name)
    cls.__annotations__ = {name: field.definition() for name, field in found.items()}


class View(Generic[Owner]):
    """What is stored flat on an object, a bone or a scene, as attributes under shorter names.

    Attributes:
        fields: By their names.
        owner: What has the properties.
    """

    __slots__ = ("owner",)
    fields: ClassVar[dict[str, Field]]

    def __init__(self, owner: Owner) -> None:
        self.owner = owner

    def __init_subclass__(cls, prefix: str = "fabrik_", update: Update | None = None) -> None:
        """Bind the fields.

        Args:
            prefix: What comes before each name on the owner.
            update: Is called with the owner after a change of a field that has no callback of its own.
        """
        cls.fields = _fields_in(cls)
        for name, field in cls.fields.items():
            field.bind(name, prefix + name, update)
            setattr(cls, name, field.of_owner())


def nobody(*_: object) -> None:
    """Hears of nothing."""


class Changes:
    """Changes of settings in this session, and which actions are told of some.

    Attributes:
        count: Rises with every change; compared with an earlier value.
        first_held: Is called with a chain that is pinned, or keeps its rotation, anew, whose place and rotation may
            never have been stored; and with whether its place is another one than was stored.
        switched_on: Is called with an armature object that went live, or whose chains were enabled, and those of its
            chains that are to be solved from now on.
    """

    count = 0
    first_held: Callable[[FabrikChain, bool], None] = nobody
    switched_on: Callable[[bpy.types.Object, Sequence[FabrikChain]], None] = nobody


def announce(owner: object, context: bpy.types.Context) -> None:
    """Update callback: count a change. That there is a callback makes Blender evaluate the object anew."""
    Changes.count += 1
