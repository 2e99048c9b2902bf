# SPDX-License-Identifier: GPL-3.0-or-later
"""Job files, of which hostile ones are refused in one line, and jobs, in which what is done is not done again."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import bpy
import pytest
from fabrik_addon.cli import files, jobs, requests, run
from fabrik_addon.cli.jobs import LARGEST, indices_of, read_job
from fabrik_addon.cli.requests import Progress, Report, Request
from fabrik_addon.errors import InvalidValueError
from fabrik_addon.rig.animation.compat import fcurves_of

from support.cli_files import CommandLine, opened, reported, save_file, save_shot, write_job
from support.scenes import add_chain, make_empty, make_line

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
    assert (one.request.frames, one.request.step, one.request.bake["clean_up"]) == ((1, 24), 2, 0.5)
    assert (two.request.frames, two.request.bake) == (None, {})


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


# Jobs of many shots: each has an output and a report, and what is done is not done again.


@pytest.fixture
def job(tmp_path: Path) -> Path:
    """Four shots, of which the third has a target out of reach."""
    shots = []
    for i in range(1, 5):
        bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
        save_shot(tmp_path / f"shot{i}.blend")
        shots.append({"file": f"shot{i}.blend", "output": f"out/shot{i}.blend", "frames": [1, 4 * i]})
    bpy.data.objects["Target"].animation_data_clear()
    bpy.data.objects["Target"].location.z = 9.0
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "shot3.blend"), copy=True)
    return write_job(tmp_path, *shots)


def outputs(job: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in (job.parent / "out").iterdir()}


def test_entries_are_baked_each_into_its_output(job: Path, cli: CommandLine) -> None:
    shots = cli.shots(job, "--index", "1-2")
    assert [(shot["index"], shot["skipped"], shot["all_reached"]) for shot in shots] == [
        (1, False, True),
        (2, False, True),
    ]
    assert sorted(outputs(job)) == ["shot1.blend", "shot1.blend.json", "shot2.blend", "shot2.blend.json"]
    told = json.loads((job.parent / "out" / "shot2.blend.json").read_text())
    assert told["armatures"][0]["chains"][0]["frames"] == 8
    assert max(curve.range()[1] for curve in fcurves_of(opened(job.parent / "out" / "shot2.blend"))) == 8.0


def test_what_is_done_is_not_done_again(job: Path, cli: CommandLine) -> None:
    run(["bake", "--job", str(job), "--index", "1"])
    before = outputs(job)
    assert [shot["skipped"] for shot in cli.shots(job, "--index", "1-2")] == [True, False]
    assert before.items() <= outputs(job).items()


@pytest.mark.parametrize("what", ["entry", "file", "output gone", "output changed", "report broken"])
def test_what_changed_is_done_again(job: Path, cli: CommandLine, what: str) -> None:
    run(["bake", "--job", str(job), "--index", "1"])
    output = job.parent / "out" / "shot1.blend"
    if what == "entry":
        job.write_text(job.read_text().replace('"frames": [1, 4]', '"frames": [1, 5]'))
    elif what == "file":
        (job.parent / "shot1.blend").write_bytes((job.parent / "shot2.blend").read_bytes())
    elif what == "output gone":
        output.unlink()
    elif what == "output changed":
        output.write_bytes(b"half")
    else:
        output.with_name("shot1.blend.json").write_text('{"key": ')
    assert [shot["skipped"] for shot in cli.shots(job, "--index", "1")] == [False]
    assert fcurves_of(opened(output))


def test_a_job_that_breaks_off_goes_on_where_it_was(
    job: Path, cli: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    saved = jobs.save_blend

    def broken(path: Path) -> None:
        if path.name == "shot2.blend":
            raise KeyboardInterrupt
        saved(path)

    monkeypatch.setattr(jobs, "save_blend", broken)
    with pytest.raises(KeyboardInterrupt):
        run(["bake", "--job", str(job)])
    assert sorted(outputs(job)) == ["shot1.blend", "shot1.blend.json"]
    monkeypatch.setattr(jobs, "save_blend", saved)
    assert [shot["skipped"] for shot in cli.shots(job, code=1)] == [True, False, False, False]


def test_a_limb_that_does_not_reach_gives_exit_code_1_again_and_again(job: Path, cli: CommandLine) -> None:
    for skipped in (False, True):
        shots = cli.shots(job, "--index", "3-4", code=1)
        assert [shot["all_reached"] for shot in shots] == [False, True]
        assert shots[0]["skipped"] == skipped


def test_a_shot_that_is_wrong_does_not_stop_the_others(job: Path, cli: CommandLine) -> None:
    (job.parent / "shot2.blend").write_text("not a blend")
    (job.parent / "out").mkdir()
    (job.parent / "out" / "shot2.blend").write_text("an old result")
    assert run(["bake", "--job", str(job), "--index", "1-2,4"]) == 2
    said = cli.capfd.readouterr()
    (line,) = [line for line in said.err.splitlines() if line.startswith("fabrik:")]
    assert line.startswith(f"fabrik: error: entry 2, '{job.parent / 'shot2.blend'}': ")
    report = json.loads(said.out.strip().splitlines()[-1])
    assert line.endswith(report["shots"][1]["error"])
    assert report["wrong"] == 1
    assert "can't be opened" in report["shots"][1]["error"]
    assert [shot.get("all_reached") for shot in report["shots"]] == [True, None, True]
    assert outputs(job)["shot2.blend"] == b"an old result"
    assert "shot2.blend.json" not in outputs(job)


def test_each_entry_that_is_wrong_is_a_line(job: Path, cli: CommandLine) -> None:
    for i in (1, 3):
        (job.parent / f"shot{i}.blend").unlink()
    assert run(["bake", "--job", str(job)]) == 2
    lines = [line for line in cli.capfd.readouterr().err.splitlines() if line.startswith("fabrik:")]
    assert [line.split(",")[0] for line in lines] == ["fabrik: error: entry 1", "fabrik: error: entry 3"]


def test_a_failure_that_nobody_foresaw_is_of_its_shot_alone(
    job: Path, cli: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    bake = requests.bake_open_file

    def broken(request: Request, progress: Progress) -> Report:
        if request.frames == (1, 4):
            raise RuntimeError("no")
        return bake(request, progress)

    monkeypatch.setattr(requests, "bake_open_file", broken)
    shots = cli.shots(job, "--index", "1-2", code=2)
    assert shots[0]["error"] == "RuntimeError: no"
    assert shots[1]["all_reached"]


def test_refusals(job: Path, cli: CommandLine) -> None:
    assert "there are no entries 4-5: the job has 1 to 4" in cli.refuses("bake", "--job", job, "--index", "4-5")
    for option, value in (("--output", "x.blend"), ("--step", 2), ("--armature", "Rig")):
        assert f"{option} does not go with --job" in cli.refuses("bake", "--job", job, option, value)
    job.write_text("{}")
    assert "its version is not 1" in cli.refuses("bake", "--job", job)
    assert not (job.parent / "out").exists()


def test_a_report_over_a_file_of_the_job(job: Path, cli: CommandLine) -> None:
    for name in ("shots.json", "shot2.blend", "out/shot1.blend.json"):
        (job.parent / "out").mkdir(exist_ok=True)
        assert "which is of the job" in cli.refuses("bake", "--job", job, "--report", job.parent / name)
    assert json.loads(job.read_text())["version"] == 1


def test_a_library_that_changed_is_noticed(tmp_path: Path, cli: CommandLine) -> None:
    library, path = tmp_path / "lib.blend", tmp_path / "shot.blend"

    def write(x: float) -> None:
        bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
        bpy.data.libraries.write(str(library), {make_empty((x, -0.5, 1.9), "Linked")})

    write(0.4)
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    chain = add_chain(make_line(3))
    with bpy.data.libraries.load(str(library), link=True) as (_, wanted):
        wanted.objects = ["Linked"]
    chain.target = bpy.data.objects["Linked"]
    bpy.context.scene.collection.objects.link(chain.target)
    save_file(path)
    job = write_job(tmp_path, {"file": "shot.blend", "output": "out.blend", "frames": [1, 2]})
    skipped = []
    for step in range(5):
        if step == 2:
            write(0.6)
        if step == 4:
            library.unlink()
        code = run(["bake", "--job", str(job)])
        skipped.append((code, reported(cli.capfd)["shots"][0].get("skipped")))
    assert skipped == [(0, False), (0, True), (0, False), (0, True), (2, None)]


def test_an_output_over_a_library(job: Path, cli: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "libraries", lambda: [(job.parent / "out" / "shot1.blend").resolve()])
    assert "is a library or a cache of the file" in cli.shots(job, "--index", "1", code=2)[0]["error"]


def test_another_code_bakes_again(job: Path, cli: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    run(["bake", "--job", str(job), "--index", "1"])
    monkeypatch.setattr(jobs, "_code", lambda: "another")
    assert [shot["skipped"] for shot in cli.shots(job, "--index", "1")] == [False]


def test_a_folder_that_can_not_be_made_is_named(job: Path, cli: CommandLine) -> None:
    (job.parent / "out").write_text("a file")
    assert str(job.parent / "out") in cli.shots(job, "--index", "1", code=2)[0]["error"]
