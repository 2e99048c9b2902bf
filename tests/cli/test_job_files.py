# SPDX-License-Identifier: GPL-3.0-or-later
"""Job files: what is read, and that hostile ones are refused in one line."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest
from fabrik_addon.cli.jobs import LARGEST, indices_of, read_job
from fabrik_addon.errors import InvalidValueError

Node = tuple[Any, ...]  # where a part of a job is

SHOT = {
    "file": "shots/one.blend",
    "output": "out/one.blend",
    "armatures": ["Rig"],
    "chains": ["hand.L"],
    "targets": {"hand.L": [1, 0.5, -2e3]},
    "frames": [1, 24],
    "step": 2,
    "into": "NLA",
    "interpolation": "BEZIER",
    "only_keys": False,
    "clean_up": 0.5,
    "verify": "SAMPLE",
}
TWO = {
    "file": "shots/two.blend",
    "output": "out/two.blend",
    "setup": {"plan": "HUMAN", "controls": "EMPTIES", "without": ["pins", "tail"], "fingers": True},
    "walk": {"gait": "TROT", "body_bone": "hips"},
}
JOB = {"version": 1, "shots": [SHOT, TWO]}
HOSTILE: tuple[object, ...] = (
    None,
    True,
    -1,
    0,
    10**400,
    1e308,
    -0.0,
    "",
    "x" * 5000,
    "\ud800",
    "a\0b.blend",
    "../out.blend",
    "/etc/passwd.blend",
    "shots/../../x.blend",
    "a\nb.blend",
    "~/x.blend",
    "CON",
    "\u202egnp.blend",
    [],
    {},
    [[]],
    [None],
    {"": 1},
    [1, 2, 3, 4],
    [24, 1],
    {"hand.L": ["1", "2", "3"]},
    ["Rig"] * 10,
)


def write(folder: Path, text: str | bytes) -> Path:
    path = folder / "shots.json"
    path.write_bytes(text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass"))
    return path


def refused(folder: Path, text: str | bytes) -> str:
    with pytest.raises(InvalidValueError) as caught:
        read_job(write(folder, text))
    return str(caught.value)


def with_field(**fields: object) -> str:
    return json.dumps({"version": 1, "shots": [{**SHOT, **fields}]})


def test_what_is_written_is_read(tmp_path: Path) -> None:
    one, two = read_job(write(tmp_path, json.dumps(JOB)))
    assert one.file == tmp_path.resolve() / "shots" / "one.blend"
    assert one.report == tmp_path.resolve() / "out" / "one.blend.json"
    assert one.request.targets == {"hand.L": (1.0, 0.5, -2000.0)}
    assert (one.request.frames, one.request.step, one.request.clean_up) == ((1, 24), 2, 0.5)
    assert (two.request.frames, two.request.into) == (None, "ACTION")


def test_a_mark_of_windows_editors_is_fine(tmp_path: Path) -> None:
    assert len(read_job(write(tmp_path, b"\xef\xbb\xbf" + json.dumps(JOB).encode()))) == 2


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("file", "../one.blend", "entry 1, 'file': it leads out of the job file's folder"),
        ("output", "/tmp/one.blend", "'output': it leads out"),
        ("file", "one.txt", "'file': it does not end in .blend"),
        ("file", "a\x00b.blend", "it is no text"),
        ("output", "shots/one.blend", "written over a file of the job"),
        ("frames", [9, 3], "'frames': the range ends at frame 3, before it starts at 9"),
        ("frames", [1, 9e6], "it is no whole number"),
        ("frames", [1], "no list of the first and the last"),
        ("step", 0, "'step': a step of 0"),
        ("targets", {"a": [1, 2]}, "'a' is no list of three numbers"),
        ("targets", {"a": [1, 2, 1e300]}, "no finite number"),
        ("clean_up", -1, "not between 0 and 30"),
        ("into", "TRASH", "it is none of ACTION, NEW_ACTION, NLA"),
        ("only_keys", 1, "neither true nor false"),
        ("chains", [], "no list of names"),
        ("color", "red", "'color' is no field"),
    ],
)
def test_a_field_that_is_wrong_is_named(tmp_path: Path, field: str, value: object, message: str) -> None:
    assert message in refused(tmp_path, with_field(**{field: value}))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "Expecting value"),
        ("[]", "no object"),
        ("[" * 100_000, "nested too deeply"),
        ('{"version": 1, "shots": [' + '{"targets": ' * 50_000, "nested too deeply"),
        ('{"version": 1, "version": 1, "shots": []}', "the key 'version' is repeated"),
        ('{"version": NaN}', "NaN is not a number"),
        ('{"version": 1, "shots": [-Infinity]}', "-Infinity is not a number"),
        ('{"version": 2, "shots": [{}]}', "its version is not 1"),
        ('{"version": true, "shots": [{}]}', "its version is not 1"),
        ('{"version": 1, "shots": []}', "'shots' is no list"),
        ('{"version": 1, "shots": [3]}', "entry 1: it is no object"),
        ('{"version": 1, "shots": [{}]}', "entry 1: 'file' is missing"),
        (b"\xff\xfe{}", "can't decode"),
        (f'{{"version": {"9" * 5000}}}', "limit"),
    ],
)
def test_files_that_are_no_jobs(tmp_path: Path, text: str | bytes, message: str) -> None:
    assert message in refused(tmp_path, text)


def test_two_entries_with_one_output(tmp_path: Path) -> None:
    job = {"version": 1, "shots": [SHOT, SHOT]}
    assert "entry 2: 'one.blend' is written by another entry" in refused(tmp_path, json.dumps(job))


def test_a_file_that_is_too_large_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "shots.json"
    with path.open("wb") as file:
        file.truncate(LARGEST + 1)
    with pytest.raises(InvalidValueError, match="are more than"):
        read_job(path)


def test_brackets_in_strings_do_not_count(tmp_path: Path) -> None:
    assert "leads out" in refused(tmp_path, with_field(file="../" + "[" * 50 + '\\"' + "{" * 50 + ".blend"))


def test_a_large_file_is_read_in_one_go(tmp_path: Path) -> None:
    """What would take a scanner for ever: quotes that never close, and escapes."""
    for text in ('"' + '\\"' * 2_000_000, '["' * 8 + "\\" * 3_000_001, '"' * 4_000_001):
        assert "job file" in refused(tmp_path, text)


def test_what_is_not_a_file(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "gone.json", Path("/dev/zero"), Path("a\0b")):
        with pytest.raises(InvalidValueError):
            read_job(path)


def test_a_link_that_leads_out(tmp_path: Path) -> None:
    inside = tmp_path / "job"
    inside.mkdir()
    (tmp_path / "outside").mkdir()
    (inside / "shots").symlink_to(tmp_path / "outside")
    assert "'file': it leads out" in refused(inside, json.dumps(JOB))


def test_a_link_in_a_circle(tmp_path: Path) -> None:
    (tmp_path / "shots").symlink_to(tmp_path / "shots")
    try:
        shots = read_job(write(tmp_path, json.dumps(JOB)))
    except InvalidValueError:
        return  # up to Python 3.12 such a path can't be resolved
    assert not shots[0].file.is_file()


def nodes(value: object, path: Node = ()) -> list[Node]:
    """The places of all parts of a job."""
    found = [path]
    if isinstance(value, dict):
        found += [place for key, part in value.items() for place in nodes(part, (*path, key))]
    elif isinstance(value, list):
        found += [place for i, part in enumerate(value) for place in nodes(part, (*path, i))]
    return found


def structural(random: Random) -> str:
    """The job with some parts replaced, removed, doubled or nested."""
    job = copy.deepcopy(JOB)
    for _ in range(random.randint(1, 3)):
        place = random.choice(nodes(job)[1:] or [()])
        if not place:
            break
        part = job
        for step in place[:-1]:
            part = part[step]
        key, kind = place[-1], random.randrange(4)
        if kind == 0:
            part[key] = copy.deepcopy(random.choice(HOSTILE))
        elif kind == 1:
            del part[key]
        elif kind == 2:
            for _ in range(random.choice((1, 5, 60))):
                part[key] = [part[key]] if random.random() < 0.5 else {"shots": part[key]}
        elif isinstance(part, dict):
            part[random.choice(("file", "Shots", "__proto__", "\ud800", key + " "))] = part[key]
        else:
            part.append(part[key])
    return json.dumps(job)


def textual(random: Random) -> bytes:
    """The job's text with bytes changed, removed, put in or doubled."""
    text = bytearray(json.dumps(JOB).encode())
    for _ in range(random.randint(1, 6)):
        at = random.randrange(len(text))
        kind = random.randrange(5)
        if kind == 0:
            text[at] = random.randrange(256)
        elif kind == 1:
            del text[at : at + random.randint(1, 20)]
        elif kind == 2:
            text[at:at] = random.choice((b"NaN", b"1e999", b"\\u0000", b"\\ud800", b"../", b"[" * 3000, b'"', b"\xff"))
        elif kind == 3:
            text[at:at] = text[at : at + random.randint(1, 200)]
        else:
            text[at : at + 1] = random.choice((b",", b":", b"{", b"}", b"]", b"-", b"0"))
    return bytes(text)


@pytest.mark.parametrize("mutate", [structural, textual])
def test_mutated_job_files_are_read_or_refused_in_one_line(tmp_path: Path, mutate: Callable[[Random], bytes]) -> None:
    random, read, lines = Random(5), 0, []
    folder = tmp_path.resolve()
    for _ in range(1500):
        text = mutate(random)
        try:
            shots = read_job(write(tmp_path, text))
        except InvalidValueError as error:
            lines += str(error).encode("utf-8").splitlines()
            continue
        read += 1
        for shot in shots:
            assert all(place.is_relative_to(folder) for place in (shot.file, shot.output, shot.report)), text
            assert shot.file not in {other.output for other in shots}
    assert 0 < read < 1500
    assert len(lines) == 1500 - read
    assert sorted(path.name for path in tmp_path.iterdir()) == ["shots.json"]


def test_entries_are_counted_from_1() -> None:
    assert indices_of("4-6", 10) == [4, 5, 6]
    assert indices_of("2,1,2-3", 3) == [1, 2, 3]
    for text in ("0", "4-3", "11", "1-11", "", "-1", "1-", "a", "1--2", "9" * 50, "٣", "1.5"):
        with pytest.raises(InvalidValueError):
            indices_of(text, 10)
