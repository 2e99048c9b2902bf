# SPDX-License-Identifier: GPL-3.0-or-later
"""The forms of numbers in the kernel: vectors, quaternions and buffers. Type checkers read `forms.pyi` instead."""

from . import cython

V3 = cython.typedef(tuple[cython.double, cython.double, cython.double])
Q4 = cython.typedef(tuple[cython.double, cython.double, cython.double, cython.double])
Doubles = cython.typedef(cython.double[::1])
Ints = cython.typedef(cython.int[::1])
