# SPDX-License-Identifier: GPL-3.0-or-later
"""Each language has all that the extension says, and nothing else; Blender tells it in the language that is chosen."""

from __future__ import annotations

import ast
import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from string import Formatter
from typing import Any, NamedTuple

import addon_utils
import bpy
import pytest
from fabrik_addon import translations
from fabrik_addon.errors import ChainError
from fabrik_addon.messages import TEMPLATES, Message
from fabrik_addon.operators.manual import TABLE
from fabrik_addon.texts import PACKAGE, Text, counted, joined, worded
from fabrik_addon.translations import CONTEXT, LANGUAGES, iface_, rpt_
from fabrik_addon.ui import menus

import addon_session
from build import ROOT
from support.scenes import assert_refused

# What the extension says to the user: found in what is registered with Blender, and in the sources.


ADDON = ROOT / "fabrik_addon"
# Folders whose texts are for the user. What the command line and the kernel say outside of messages is for scripts
# and farms, and what names tell of bones is no text.
TOLD = ("gait", "recognise", "rig", "actions", "overlay", "operators", "ui")
NOT_TOLD = tuple(f"recognise/{name}" for name in ("conventions.py", "tree.py", "words.py"))
# Names of data and parts of them, keys, and types.
NAMES = (
    " Bake",
    "Finger ",
    "Front Leg",
    "Hind Leg",
    "Leg ",
    "FABRIK ",
    "FABRIK Anchor",
    "FABRIK Body",
    "FABRIK Scene",
    "FABRIK Space",
    "FABRIK Swing",
    " shape",
    "limb of ",
    "held by ",
    "Object Transforms",
    "plain ",
    "bpy.types.Collection | None",
    TABLE,  # of the manual's pages
)
OWNERS = (bpy.types.Object, bpy.types.PoseBone, bpy.types.Scene, bpy.types.WindowManager)
KINDS = ("Operator", "Macro", "Panel", "Menu", "UIList", "PropertyGroup", "AddonPreferences")
WITH_TOOLTIPS = ("Operator", "Macro", "Panel", "Menu")
MARKS = {  # calls, and which of their arguments are texts
    "Text": (0,),
    "check_range": (0,),
    "counted": (1, 2),
    "iface_": (0,),
    "label_": (0,),
    "listed": (1,),
    "refuse": (0,),
    "rpt_": (0,),
    "tell": (0,),
    "tip_": (0,),
    "warn": (0,),
}
LAYOUTS = ("text", "heading")
LOGS = ("debug", "info", "warning", "error", "exception")
BUILTIN = ("raise AttributeError", "raise TypeError", "raise NotImplementedError")
ANY = "*"
WORDS = re.compile(r"[A-Za-z]{2}[^A-Za-z]* |[ ][^A-Za-z]*[A-Za-z]{2}")
IDENTIFIERS = re.compile(r"[A-Z0-9_]+( [A-Z0-9_]+)*")  # a list of names of data


class Said(NamedTuple):
    """A text to be translated.

    Attributes:
        context: In which Blender looks it up.
        text: The text, or the template.
        where: What has it, for the one who is to translate it.
    """

    context: str
    text: str
    where: str


def registered() -> Iterator[Said]:
    """Labels, names, items and tooltips of all that is registered."""
    for kind in KINDS:
        base: Any = getattr(bpy.types, kind)
        inherited = {prop.identifier for prop in base.bl_rna.properties} | {"rna_type"}
        for cls in _classes(base):
            rna = _operator_type(cls) if kind in ("Operator", "Macro") else cls.bl_rna
            label = getattr(cls, "bl_label", "")
            context = (
                rna.translation_context
                if kind in ("Operator", "Macro")
                else getattr(cls, "bl_translation_context", ANY)
            )
            if label:
                yield Said(context, label, cls.__name__)
            tooltip = rna.description if kind in ("Operator", "Macro") else cls.__doc__
            if kind in WITH_TOOLTIPS and tooltip:
                yield Said(ANY, tooltip, f"{cls.__name__}, tooltip")
            for prop in rna.properties:
                if prop.identifier not in inherited and kind != "Macro":  # whose properties are tools
                    yield from _of_property(prop, f"{cls.__name__}.{prop.identifier}")
    for owner in OWNERS:
        for prop in owner.bl_rna.properties:
            if prop.identifier.startswith("fabrik"):
                yield from _of_property(prop, f"{owner.__name__}.{prop.identifier}")


def _classes(base: Any) -> Iterator[Any]:
    """All registered classes of the extension below one of Blender's, each once."""
    found: dict[Any, None] = {}
    waiting = list(base.__subclasses__())
    while waiting:
        cls = waiting.pop()
        waiting += cls.__subclasses__()
        if cls.__module__.startswith(f"{addon_session.MODULE}.") and getattr(
            cls, "is_registered", "bl_idname" in vars(cls)
        ):
            found[cls] = None
    return iter(found)


def _operator_type(cls: Any) -> Any:
    operators: Any = bpy.ops.fabrik
    return getattr(operators, cls.bl_idname.removeprefix("fabrik.")).get_rna_type()


def _of_property(prop: Any, where: str) -> Iterator[Said]:
    """The texts of a property; one that was given no name shows its identifier, and is for the extension alone."""
    if prop.name != prop.identifier:
        yield Said(prop.translation_context, prop.name, where)
    if prop.description:
        yield Said(ANY, prop.description, f"{where}, tooltip")
    for item in prop.enum_items if prop.type == "ENUM" else ():
        yield Said(prop.translation_context, item.name, f"{where}, {item.identifier}")
        if item.description:
            yield Said(ANY, item.description, f"{where}, {item.identifier}, tooltip")


def in_menus() -> Iterator[Said]:
    """What entries of the menus say in place of the label of their operator."""
    for parts in (menus.LIST, menus.PIE, *(cls.parts for cls in menus.FabrikMenu.__subclasses__())):
        for part in parts:
            if isinstance(part, menus.Entry) and part.text:
                yield Said(CONTEXT, part.text, f"ui/menus.py, {part.operator}")


def in_messages() -> Iterator[Said]:
    """The sentences of the layers below the actions; one of fields alone says nothing by itself."""
    for code, template in TEMPLATES.items():
        if has_letters(template):
            yield Said(ANY, template, f"messages.py, {code}")


class Source:
    """A file of the extension, and what it says.

    Attributes:
        name: Its path in the package.
        said: Its texts.
        silent: Strings with words that are translated by nobody, as far as the file alone tells, each with its line.
        glued: Lines with f-strings that have words in them.
        renamed: Lines where a layout shows a name as it is, which Blender would translate where it is a word.
    """

    def __init__(self, path: Path) -> None:
        self.name = path.relative_to(ADDON).as_posix()
        self.said: list[Said] = []
        self.silent: list[tuple[str, int]] = []
        self.glued: list[int] = []
        self.renamed: list[int] = []
        self._seen: set[int] = set()
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for node in ast.walk(tree):
            self._pass_over(node)
            if isinstance(node, ast.Call):
                self._heed_call(node)
            elif isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call) and node.exc.args:
                self._say(ANY, node.exc.args[0])
        for node in ast.walk(tree):
            if id(node) not in self._seen:
                self._heed_string(node)

    def _heed_call(self, call: ast.Call) -> None:
        function = call.func
        name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
        for place in MARKS.get(name, ()):
            if len(call.args) > place:
                self._say(CONTEXT if name == "label_" else ANY, call.args[place])
        if isinstance(function, ast.Attribute):
            shows_name = any(
                word.arg in LAYOUTS and ast.unparse(word.value).endswith(".name") for word in call.keywords
            )
            if shows_name and not any(word.arg == "translate" for word in call.keywords):
                self.renamed.append(call.lineno)
            for keyword in call.keywords:
                if keyword.arg in LAYOUTS:
                    self._say(CONTEXT if name == "operator" else ANY, keyword.value)
            if name in LOGS:
                self._seen |= {id(inner) for inner in ast.walk(call)}

    def _say(self, context: str, node: ast.AST) -> None:
        """Take note of a text that stands there as it is, or of each of two that are chosen from."""
        if id(node) in self._seen:
            return
        if isinstance(node, ast.IfExp):
            self._say(context, node.body)
            self._say(context, node.orelse)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            self._seen.add(id(node))
            if has_letters(node.value):
                self.said.append(Said(context, node.value, f"{self.name}:{node.lineno}"))

    def _pass_over(self, node: ast.AST) -> None:
        """Leave out docstrings, what only an engineer is told, and labels: `registered` has those that are seen."""
        body = getattr(node, "body", None)
        if isinstance(body, list) and body and isinstance(body[0], ast.Expr):
            self._seen.add(id(body[0].value))
        is_own = isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) in {"bl_label", "self.__doc__"}
        builtin = isinstance(node, ast.Raise) and ast.unparse(node).startswith(BUILTIN)
        if is_own or builtin or isinstance(node, ast.Assert):
            self._seen |= {id(inner) for inner in ast.walk(node)}

    def _heed_string(self, node: ast.AST) -> None:
        if isinstance(node, ast.JoinedStr):
            parts = [part.value for part in node.values if isinstance(part, ast.Constant)]
            self._seen |= {id(part) for part in node.values}
            if any(WORDS.search(str(part)) and part not in NAMES for part in parts):
                self.glued.append(node.lineno)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and _has_words(node.value):
            self.silent.append((node.value, node.lineno))


def sources() -> list[Source]:
    """The files whose texts are for the user."""
    paths = [path for folder in TOLD for path in sorted((ADDON / folder).rglob("*.py"))]
    told = [path for path in paths if not path.relative_to(ADDON).as_posix().startswith(NOT_TOLD)]
    return [Source(path) for path in (*told, ADDON / "errors.py", ADDON / "texts.py")]


def codes_used() -> set[str]:
    """The codes of all messages that are made anywhere."""
    calls = (
        node
        for path in ADDON.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Message"
    )
    return {str(code.value) for call in calls for code in call.args[:1] if isinstance(code, ast.Constant)}


def has_letters(template: str) -> bool:
    """Whether a template has words of its own beside its fields."""
    return any(letter.isalpha() for letter in re.sub(r"\{.*?\}", "", template))


def _has_words(text: str) -> bool:
    """Whether a string has words that a user may read."""
    return WORDS.search(text) is not None and not IDENTIFIERS.fullmatch(text)


# What they are tested for


GERMAN = "de_DE"


@pytest.fixture(scope="module")
def files() -> list[Source]:
    return sources()


@pytest.fixture(scope="module")
def said(files: list[Source]) -> dict[tuple[str, str], Said]:
    """All texts by what they are looked up as."""
    found = [*registered(), *in_menus(), *in_messages(), *(one for file in files for one in file.said)]
    return {(one.context, one.text): one for one in found}


@pytest.fixture
def languages() -> set[str]:
    """Those that this Blender knows."""
    if not bpy.app.translations.locales:
        pytest.skip("this Blender comes without languages, as the bpy wheels do")
    return set(bpy.app.translations.locales)


@pytest.fixture
def in_german(languages: set[str]) -> Iterator[None]:
    """Blender's preferences as a German user has them."""
    assert GERMAN in languages
    view: Any = bpy.context.preferences.view
    before = view.language
    view.language = GERMAN
    view.use_translate_interface = view.use_translate_reports = view.use_translate_tooltips = True
    yield
    view.language = before


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_language_has_all_that_is_said(language: str, said: dict[tuple[str, str], Said]) -> None:
    missing = [
        f"{one.where}: ({one.context!r}, {one.text!r})" for key, one in said.items() if key not in LANGUAGES[language]
    ]
    assert not missing, "add them in translations/:\n" + "\n".join(missing)


def test_each_code_has_its_sentence_and_no_sentence_is_stale() -> None:
    assert codes_used() == set(TEMPLATES)


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_language_has_nothing_else(language: str, said: dict[tuple[str, str], Said]) -> None:
    stale = [str(key) for key in LANGUAGES[language] if key not in said]
    assert not stale, "nothing says them any more, take them out of translations/:\n" + "\n".join(stale)


def test_no_text_is_there_twice() -> None:
    """Of two the last would be heard."""

    def checked(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        assert len(pairs) == len(dict(pairs)), [
            text for text, count in Counter(key for key, _ in pairs).items() if count > 1
        ]
        return dict(pairs)

    for path in Path(translations.__file__).parent.glob("*.json"):
        json.loads(path.read_text(encoding="utf-8"), object_pairs_hook=checked)


def fields(template: str) -> set[tuple[str | None, str | None]]:
    return {(name, form) for _, name, form, _ in Formatter().parse(template) if name is not None}


@pytest.mark.parametrize("language", LANGUAGES)
def test_fields_and_ends_are_the_same_in_both_languages(language: str) -> None:
    for (_, text), told in LANGUAGES[language].items():
        assert fields(text) == fields(told), text
        for end in (":", ".", "?"):
            assert text.endswith(end) == told.endswith(end), text


def test_no_words_are_glued_together(files: list[Source]) -> None:
    """What is put together has to be a template, for other languages have another order of words."""
    glued = [f"{file.name}:{line}" for file in files for line in file.glued]
    assert not glued, "use iface_, rpt_, tip_ or Text with fields:\n" + "\n".join(glued)


def test_no_words_are_left_in_english(files: list[Source], said: dict[tuple[str, str], Said]) -> None:
    """Strings that no call hands to Blender are those of what is registered, or nothing that is read."""
    known = {text for _, text in said} | {*NAMES}
    silent = [f"{file.name}:{line}: {text!r}" for file in files for text, line in file.silent if text not in known]
    assert not silent, "use iface_, rpt_, tip_ or Text:\n" + "\n".join(silent)


def test_names_of_bones_are_not_translated(files: list[Source]) -> None:
    """A bone may be called by a word that is in a dictionary."""
    renamed = [f"{file.name}:{line}" for file in files for line in file.renamed]
    assert not renamed, "say translate=False:\n" + "\n".join(renamed)


def test_a_text_keeps_what_it_was_made_of() -> None:
    inner = counted(2, "1 bone", "{count} bones")
    text = Text("Captured pose: {bones}", bones=inner)
    assert text == "Captured pose: 2 bones"
    assert (text.template, text.fields) == ("Captured pose: {bones}", {"bones": inner})
    assert counted(1, "1 bone", "{count} bones") == "1 bone"
    assert joined("; ", ("a {b}", inner)) == "a {b}; 2 bones"
    assert joined("; ", ()) == ""


def test_an_errors_text_has_its_place() -> None:
    error = ChainError(Text("there is no chain '{name}'", name="leg"), rig="Rig", chain="arm", bone="b1")
    assert str(error) == "'Rig', chain 'arm', bone 'b1': there is no chain 'leg'"
    assert str(error.local) == "bone 'b1': there is no chain 'leg'"
    assert str(ChainError("no")) == "no"


def test_a_message_is_worded_where_it_is_told() -> None:
    reason = Message("GOAL_DELETED", role=Message("ROLE_POLE"), name="Empty")
    error = ChainError(reason, rig="Rig", bone="b1")
    assert str(reason) == "the pole 'Empty' was deleted"
    assert str(error) == "'Rig', bone 'b1': the pole 'Empty' was deleted"
    assert rpt_(error.local) == iface_(error.local) == "bone 'b1': the pole 'Empty' was deleted"
    assert worded(error.text) == str(error)


def test_calls_fill_in_fields_and_leave_names_as_they_are() -> None:
    assert iface_("Mass of {name}", name="{x}") == "Mass of {x}"
    assert rpt_(Text("{done}: {bones}", done="Solve", bones=Text("{count} bones", count=2))) == "Solve: 2 bones"


def test_blender_tells_it_in_german(in_german: None) -> None:
    told: Any = bpy.app.translations.pgettext_iface
    assert told("Set Up Character", CONTEXT) == "Charakter einrichten"
    assert told("Add Chain", CONTEXT) == "Kette hinzufügen"
    assert told("Pin", CONTEXT) == "Festpinnen"
    assert iface_("Mass of {name}", name="Bone") == "Masse von Bone"
    assert iface_(Text("Captured pose: {bones}", bones=counted(2, "1 bone", "{count} bones"))).endswith("2 Knochen")
    assert rpt_(joined(", ", ("Leg", Text("target gone")))) == "Leg, Ziel weg"
    error = ChainError("no chain is enabled", rig="Armature")
    assert rpt_(error.text) == "'Armature': keine Kette ist aktiviert"
    assert rpt_(ChainError(Message("NO_TIP_BONE"), chain="Leg").text).startswith("Kette 'Leg': ")


def test_a_report_is_in_german(in_german: None) -> None:
    assert_refused(r"das Handbuch hat kein 'nothing\.md'", "manual", page="nothing")


def test_blender_knows_the_languages(languages: set[str]) -> None:
    assert set(LANGUAGES) <= languages


def test_switched_off_nothing_is_left(languages: set[str]) -> None:
    """Blender refuses texts under a name that has some."""
    register: Any = bpy.app.translations.register
    unregister: Any = bpy.app.translations.unregister
    with pytest.raises(ValueError, match=PACKAGE):
        register(PACKAGE, LANGUAGES)
    addon_utils.disable(addon_session.MODULE, default_set=True)
    try:
        register(PACKAGE, {})
        unregister(PACKAGE)
    finally:
        addon_utils.enable(addon_session.MODULE, default_set=True, persistent=True)
