# SPDX-License-Identifier: GPL-3.0-or-later
"""Stands in for Cython's module of this name where the kernel runs interpreted: every word of it does nothing.

The kernel is written in Cython's pure-Python mode. `scripts/build.py` compiles it with the real module; interpreted,
the same files import this one, also where Cython happens to be installed.
"""

compiled = False


class _Type:
    """A C type; indexing it makes the type of a buffer of it."""

    def __getitem__(self, _):
        return self


double = bint = int = Py_ssize_t = void = _Type()


def cfunc(function):
    return function


inline = cclass = cfunc


def exceptval(*_, **__):
    return cfunc


def boundscheck(_):
    return cfunc


def typedef(_):
    return tuple


def declare(_, value=None, **__):
    return value
