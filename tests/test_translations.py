# SPDX-License-Identifier: GPL-3.0-or-later
"""Each language has all that the extension says, and nothing else; Blender tells it in the language that is chosen."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from string import Formatter
from typing import Any

import addon_utils
import bpy
import pytest
from fabrik_addon import translations
from fabrik_addon.errors import ChainError
from fabrik_addon.messages import TEMPLATES, Message
from fabrik_addon.texts import PACKAGE, Text, counted, joined, worded
from fabrik_addon.translations import CONTEXT, LANGUAGES, iface_, rpt_

import addon_session
from support.told_texts import NAMES, Said, Source, codes_used, in_menus, in_messages, registered, sources

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
    with pytest.raises(RuntimeError, match=r"das Handbuch hat kein 'nothing\.md'"):
        bpy.ops.fabrik.manual(page="nothing")


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
