# SPDX-License-Identifier: GPL-3.0-or-later
"""Loading a compiled kernel, or leaving it aside; and that it answers with the bits of the interpreted one."""

from __future__ import annotations

import hashlib
import json
import logging
import math
import os
import platform
import sys
import sysconfig
import tempfile
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path
from types import ModuleType

import pytest
from fabrik_addon import kernel
from fabrik_addon.kernel import FORM, STATUSES, loading

from support import kernel_answers
from support.kernel_answers import PARTS, Told, run_interpreted, solutions_of_families
from support.processes import ROOT, plain_python, run_process

TAG = loading.platform_tag()
NAMES = ("Solver", "Figure")
SOURCE = "def solve():\n    return 1\n"


class Extension:
    """An extension with a kernel of one module and a binary that is said to be made from it."""

    def __init__(self, folder: Path) -> None:
        self.core = ModuleType("core")
        self.kernel = folder / "kernel"
        file = "core.pyd" if TAG.startswith("windows") else "core.abi3.so"
        self.binary = folder / "native" / TAG / file
        for inside in (self.kernel, self.binary.parent):
            inside.mkdir(parents=True)
        (self.kernel / "solver.py").write_text(SOURCE)
        self.put(b"a binary")

    def put(self, content: bytes) -> None:
        """Another binary, with a note that fits."""
        self.binary.write_bytes(content)
        note = {"sha256": self.digest, "sources": loading.sources_digest(self.kernel)}
        (self.binary.parent / loading.NOTE).write_text(json.dumps(note))

    @property
    def digest(self) -> str:
        return hashlib.sha256(self.binary.read_bytes()).hexdigest()

    def load(self) -> ModuleType:
        return loading.load(self.binary, "no_such_extension.kernel")


@pytest.fixture
def extension(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Extension:
    """A made-up extension in the place of this one; its binary loads and proves itself."""
    made = Extension(tmp_path)
    vars(made.core).update(dict.fromkeys(NAMES, object), __all__=(*NAMES, "FORM"), FORM={"kind": "compiled"})
    monkeypatch.delenv(loading.SWITCH, raising=False)
    monkeypatch.setattr(loading, "__file__", str(made.kernel / "loading.py"))
    monkeypatch.setattr(loading, "_imported", lambda name, path: made.core)
    monkeypatch.setattr(loading, "first_difference", lambda core: "")
    return made


def form() -> Mapping[str, str]:
    found = loading.load_names(kernel.__name__)["FORM"]
    assert isinstance(found, dict)
    return found


def interpreted_for(reason: str, caplog: pytest.LogCaptureFixture, warnings: int = 1) -> None:
    """The kernel is not loaded, for a reason that one warning names together with the file."""
    caplog.clear()
    with caplog.at_level(logging.WARNING):
        found = form()
    assert found["kind"] == "interpreted"
    assert reason in found["reason"]
    assert len(caplog.records) == warnings
    for record in caplog.records:
        assert reason in record.getMessage()
        assert found["path"] in record.getMessage()


def test_a_binary_that_fits_is_used(extension: Extension) -> None:
    assert loading.load_names(kernel.__name__)["Solver"] is extension.core.Solver
    assert form() == {"kind": "compiled", "path": str(extension.binary), "reason": ""}


def test_a_damaged_file(extension: Extension, caplog: pytest.LogCaptureFixture) -> None:
    extension.binary.write_bytes(extension.binary.read_bytes()[:-1])
    interpreted_for("damaged", caplog)


def test_a_missing_or_senseless_note(extension: Extension, caplog: pytest.LogCaptureFixture) -> None:
    note = extension.binary.parent / loading.NOTE
    for text in ("", "[]", "{}", "[1"):
        note.write_text(text)
        interpreted_for("can't be read", caplog)
    note.unlink()
    interpreted_for("can't be read", caplog)


def test_a_binary_of_other_sources(extension: Extension, caplog: pytest.LogCaptureFixture) -> None:
    (extension.kernel / "solver.py").write_text(SOURCE.replace("1", "2"))
    interpreted_for("other sources", caplog)
    (extension.kernel / "solver.py").write_bytes(SOURCE.replace("\n", "\r\n").encode())
    assert extension.load()  # as a checkout on Windows has them


def test_a_file_of_another_platform(
    extension: Extension, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.undo()
    monkeypatch.setattr(loading, "__file__", str(extension.kernel / "loading.py"))
    monkeypatch.delenv(loading.SWITCH, raising=False)
    extension.put(b"MZ" + bytes(4094))
    interpreted_for("", caplog)


def test_a_binary_that_solves_wrongly(
    extension: Extension, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loading, "first_difference", lambda core: "it solves stored problem 3 wrongly")
    interpreted_for("stored problem 3", caplog)


def test_a_binary_without_names(extension: Extension, caplog: pytest.LogCaptureFixture) -> None:
    del extension.core.Figure
    interpreted_for("no attribute 'Figure'", caplog)


def test_no_binary_is_no_reason_to_warn(extension: Extension, caplog: pytest.LogCaptureFixture) -> None:
    extension.binary.unlink()
    interpreted_for(f"no binary for {TAG}", caplog, warnings=0)


def test_the_switch(extension: Extension, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(loading.SWITCH, "1")
    interpreted_for(loading.SWITCH, caplog, warnings=0)


def test_windows_loads_a_copy(extension: Extension, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    binary = extension.binary.with_name("core.pyd")
    binary.write_bytes(b"first")

    def placed() -> Path:
        return loading._placed(binary, hashlib.sha256(binary.read_bytes()).hexdigest())

    first = placed()
    assert first.parent == tmp_path
    assert first.read_bytes() == b"first"
    first.write_bytes(b"damaged")
    assert placed() == first
    assert first.read_bytes() == b"first"
    binary.write_bytes(b"update")
    assert placed().read_bytes() == b"update"
    assert [path.name for path in tmp_path.glob("*.pyd")] == [placed().name]
    assert loading._placed(extension.binary, "0") == extension.binary or TAG.startswith("windows")
    monkeypatch.setattr(tempfile, "tempdir", str(extension.binary / "folder"))
    assert loading._placed(binary, "0" * 64) == binary


@pytest.mark.parametrize(
    ("system", "machine", "built", "tag"),
    [
        ("linux", "x86_64", "linux-x86_64", "linux-x64"),
        ("linux", "aarch64", "linux-aarch64", "linux-arm64"),
        ("win32", "ARM64", "win-amd64", "windows-x64"),  # an emulated process
        ("win32", "ARM64", "win-arm64", "windows-arm64"),
        ("darwin", "x86_64", "macosx-11.0-universal2", "macos-x64"),
        ("darwin", "arm64", "macosx-11.0-universal2", "macos-arm64"),
        ("freebsd14", "amd64", "freebsd", "freebsd14-x64"),
    ],
)
def test_platforms(system: str, machine: str, built: str, tag: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", system)
    monkeypatch.setattr(platform, "machine", lambda: machine)
    monkeypatch.setattr(sysconfig, "get_platform", lambda: built)
    assert loading.platform_tag() == tag


def test_the_kernel_solves_as_stored() -> None:
    assert loading.first_difference(kernel) == ""
    assert len(json.loads(loading.PROOF.read_text())) == 20


@pytest.mark.parametrize("wrong", [1e-3, math.nan])
def test_a_wrong_solve_is_found(wrong: float) -> None:
    class Wrong:
        def __init__(self, figure: kernel.Figure) -> None:
            self.solver = kernel.Solver(figure)

        def solve(self, goals: list[kernel.Goal], settings: kernel.Settings, explain: bool) -> kernel.Solution:
            found = self.solver.solve(goals, settings, explain=explain)
            return found._replace(residual=found.residual + (wrong if len(goals) > 1 else 0.0))

    spoiled = ModuleType("spoiled")
    vars(spoiled).update({**vars(kernel), "Solver": Wrong})
    assert loading.first_difference(spoiled) == "it solves stored problem 5 wrongly"


TWICE = """
import sys
import fabrik_addon.kernel as first
print(first.FORM["kind"])
for name in [name for name in sys.modules if name.split(".")[0] == "fabrik_addon"]:
    del sys.modules[name]
import fabrik_addon.kernel as second
from fabrik_addon.errors import ChainError
others = {"core", "bpy", "mathutils", "numpy"} & set(sys.modules)
others |= {name for name, one in sys.modules.items() if "core." in str(getattr(one, "__file__", ""))}
print(second.FORM["kind"], second.Solver is first.Solver, others)
try:
    second.Figure([])
except ChainError:
    print("its own error")
"""


def test_imported_twice_in_a_process_it_is_another() -> None:
    """As after an update of the extension while Blender runs; Python's list of modules has none of it."""
    done = run_process([plain_python(), "-c", TWICE], {"PYTHONPATH": str(ROOT)}, folder=ROOT.parent)
    told = done.stdout.splitlines()
    assert told == [told[0], f"{told[0]} False set()", "its own error"], done.stderr


def test_what_is_compiled_is_used() -> None:
    """Tests that were to try the compiled kernel do not try the other without a word."""
    path = Path(loading.__file__).parent.parent / "native" / TAG
    if path.is_dir() and not os.environ.get(loading.SWITCH):
        assert kernel.FORM["kind"] == "compiled", kernel.FORM["reason"]


# The compiled kernel and the interpreted one answer with the same bits.


only_compiled = pytest.mark.skipif(
    FORM["kind"] != "compiled" or not sys.platform.startswith("linux"),
    reason="no compiled form is loaded to be compared, or sin, cos and atan2 are the system's own",
)


def differences(here: Told, there: Told, where: str = "") -> Iterator[str]:
    """Where what is told first differs, by the names and numbers that lead there; once for each name at the top."""
    if here == there:
        return
    if isinstance(here, dict) and isinstance(there, dict) and here.keys() == there.keys():
        found = (differences(here[name], there[name], f"{where} {name}") for name in here)
    elif isinstance(here, list) and isinstance(there, list) and len(here) == len(there):
        found = (differences(*pair, f"{where} {i}") for i, pair in enumerate(zip(here, there, strict=True)))
    else:
        yield f"{where.strip()}: {here} compiled, {there} interpreted"
        return
    every = (text for texts in found for text in texts)
    yield from every if not where else islice(every, 1)


@only_compiled
@pytest.mark.parametrize("part", PARTS)
def test_both_forms_answer_with_the_same_bits(part: str) -> None:
    found = json.loads(run_interpreted(Path(kernel_answers.__file__), part))
    assert found["form"] == "interpreted"
    here, there = PARTS[part](), found["answers"]
    assert list(here) == list(there)
    assert list(differences(here, there)) == []


@only_compiled
def test_the_cases_end_in_every_way() -> None:
    """All statuses, joints that hold back and what they would have to give, poles that are met and that are not."""
    solutions = solutions_of_families()
    assert {solution.status for solution in solutions} == set(STATUSES)
    for found in (
        {bool(solution.blocking) for solution in solutions},
        {None in solution.give for solution in solutions if solution.give},
        {solution.pole_error > 1e-3 for solution in solutions},
        {len(solution.statuses) > 2 for solution in solutions},
    ):
        assert found == {False, True}
