# SPDX-License-Identifier: GPL-3.0-or-later
"""Joining the kernel's modules into the one that is compiled."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from fabrik_addon.kernel import loading

from dev.amalgamate import amalgamate
from environment import CompileError

Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Writes a kernel's modules; a name's underscore stands for the slash."""

    def written(**sources: str) -> Path:
        for name, source in sources.items():
            path = tmp_path / f"{name.replace('_', '/')}.py"
            path.parent.mkdir(exist_ok=True)
            path.write_text(source)
        return tmp_path

    return written


def joined(folder: Path) -> list[str]:
    return amalgamate(folder, loading.compiled_sources(folder)).text.splitlines()


def test_modules_are_joined_in_the_order_of_their_imports(write: Write) -> None:
    folder = write(
        a='"""Doc."""\nfrom __future__ import annotations\n\nfrom .limits.base import (\n    Limit,\n)\n\nA = Limit\n',
        limits_base=(
            "# SPDX\nfrom math import cos, sin\nfrom typing import Any\nfrom ...errors import ChainError\n"
            "from .. import cython\nfrom ..vectors import V3\n\n\n@cython.cclass\nclass Limit:\n    x: V3\n"
        ),
        vectors=(
            "import json\nfrom array import array\nfrom math import sin\nfrom . import cython\n\n"
            "V3 = cython.typedef(tuple)\n"
        ),
        loading="from .vectors import V3\n",
        cython="V3 = 1\n",
    )
    text = joined(folder)
    assert text[0].startswith(
        "# cython: language_level=3, infer_types=True, boundscheck=True, wraparound=False, nonecheck=True"
    )
    assert text[1:8] == [
        "from __future__ import annotations",
        "import cython",
        "import json",
        "from ..errors import ChainError",
        "from array import array",
        "from cython.cimports.libc.math import cos, sin",
        "from typing import Any",
    ]
    rest = [line for line in text[8:] if line and not line.startswith("# ----")]
    assert rest == ["V3 = cython.typedef(tuple)", "@cython.cclass", "class Limit:", "    x: V3", "A = Limit"]


def test_lines_are_known_by_where_they_come_from(write: Write) -> None:
    folder = write(a="from .b import B\n\nA = B\n", b="B = 1\n")
    found = amalgamate(folder, loading.compiled_sources(folder))
    lines = found.text.splitlines()
    assert len(found.origins) == len(lines)
    assert found.origins[lines.index("A = B")] == "a.py:3"


CFUNC = "from . import cython\n\n\n@cython.cfunc\n"
SILENT = f"{CFUNC}@cython.exceptval(check=False)\n"


@pytest.mark.parametrize(
    ("sources", "told"),
    [
        ({"a": "X = 1\n", "b": "\nX = 2\n"}, ["b.py:2: 'X'", "a.py:1"]),
        ({"a": "for i in (1, 2):\n    Y, i = i, 0\n", "b": "def i(): ...\n"}, ["b.py:1: 'i'", "a.py:1"]),
        ({"a": "from math import log\n", "b": "from json import loads\n\nlog = 1\n"}, ["b.py:3: 'log'", "a.py:1"]),
        ({"a": "cython = 1\n"}, ["a.py:1: 'cython'"]),
        ({"a": "from .b import B\nA = 1\n", "b": "from .a import A\nB = 1\n"}, ["circle: a.py -> b.py -> a.py"]),
        ({"a": "from .b import missing\n", "b": "B = 1\n"}, ["a.py:1: b.py has no 'missing'"]),
        ({"a": "from .b import B as C\n", "b": "B = 1\n"}, ["a.py:1", "another name"]),
        ({"a": "from .b import *\n", "b": "B = 1\n"}, ["a.py:1", "not by *"]),
        ({"a": "from . import b\n", "b": "B = 1\n"}, ["a.py:1: 'b' is a module"]),
        ({"a": "from .c import C\n"}, ["a.py:1", "no module 'c'"]),
        ({"a": "import math\n"}, ["a.py:1", "from math"]),
        ({"a": "from math import hypot\n"}, ["a.py:1: 'hypot' of math"]),
        ({"a": "import numpy\n"}, ["a.py:1", "not 'numpy'"]),
        ({"a": "import cython\n"}, ["a.py:1", "not 'cython'"]),
        ({"a": "from .... import x\n"}, ["a.py:1", "beside the kernel"]),
        ({"a": "def f():\n    import json\n"}, ["a.py:2", "inside a function"]),
        ({"a": "import json; X = 1\n"}, ["a.py:1", "on the same line"]),
        ({"a": "def f(:\n"}, ["a.py:1: invalid syntax"]),
        ({"a": f"{SILENT}def f(x):\n    if x:\n        raise ValueError\n"}, ["a.py:8: 'f' raises"]),
        ({"a": f"{SILENT}def f(x):\n    assert x\n"}, ["a.py:7: 'f' raises"]),
        ({"a": f"{CFUNC}def f(x):\n    return x // 2\n"}, ["a.py:6: '//'", "'f'"]),
        ({"a": f"{CFUNC}def f(x):\n    x %= 2\n"}, ["a.py:6: '%'", "'f'"]),
        ({"a": f"{CFUNC}def f(x):\n    return x**2\n"}, ["a.py:6: '**'", "'f'"]),
        ({"a": "def f(x: float):\n    return x % 2.0\n"}, ["a.py:2: '%'", "'f'"]),
        ({"a": "def f(x):\n    return x[-1]\n"}, ["a.py:2: an index", "'f'"]),
        ({"a": f"{CFUNC}def f(x):\n    return super().f()\n"}, ["a.py:6: super()"]),
    ],
)
def test_what_would_not_mean_the_same_is_refused(sources: dict[str, str], told: list[str], write: Write) -> None:
    with pytest.raises(CompileError) as error:
        joined(write(**sources))
    for text in told:
        assert text in str(error.value)


def test_what_means_the_same_is_not_refused(write: Write) -> None:
    folder = write(
        a=(
            f"{CFUNC}def f(x):\n    raise ValueError('%s' % x)\n\n\n"
            "def g(x):\n    from .b import B\n\n    return B[x - 1]\n"
        ),
        b="from .a import f\n\nB = f\n",
    )
    assert "    pass" in joined(folder)
