# SPDX-License-Identifier: GPL-3.0-or-later
"""Small symmetric systems of equations, solved by Cholesky's method."""

from __future__ import annotations

from math import sqrt

from .. import cython
from ..forms import Doubles
from ..vectors import copy_into, doubles


@cython.cclass
class System:
    """A symmetric, positive definite system A x = b of m equations.

    Attributes:
        size: m.
        matrix: A, row by row; its lower half counts.
        wanted: b.
        values: x, once it is solved.
    """

    size: cython.int
    matrix: Doubles
    wanted: Doubles
    values: Doubles
    factor: Doubles  # Cholesky's, in the lower half
    column: Doubles  # of it, the one at hand

    def __init__(self, size: int) -> None:
        self.size = size
        self.matrix, self.factor = doubles(size * size), doubles(size * size)
        self.wanted, self.values, self.column = doubles(size), doubles(size), doubles(size)

    @cython.cfunc
    @cython.exceptval(check=False)
    def clear(self, diagonal: cython.double, first: cython.int, of_first: cython.double) -> cython.void:
        """Make A a diagonal matrix with `of_first` at the first `first` places, and `diagonal` at the others."""
        i: cython.int
        for i in range(self.size * self.size):
            self.matrix[i] = 0.0
        for i in range(self.size):
            self.matrix[i * self.size + i] = of_first if i < first else diagonal

    @cython.cfunc
    @cython.exceptval(check=False)
    @cython.boundscheck(False)
    def factorize(self) -> cython.bint:
        """Find Cholesky's factor, with one over its diagonal; False where there is none."""
        i: cython.int
        j: cython.int
        k: cython.int
        size: cython.int = self.size
        factor: Doubles = self.factor
        column: Doubles = self.column
        copy_into(factor, self.matrix, size * size)
        for j in range(size):
            pivot: cython.double = factor[j * size + j]
            if not pivot > 0.0:
                return False
            pivot = 1.0 / sqrt(pivot)
            factor[j * size + j] = pivot
            for i in range(j + 1, size):
                column[i] = factor[i * size + j] * pivot
                factor[i * size + j] = column[i]
            for i in range(j + 1, size):  # along a row at last, so that processors can do several numbers at once
                own: cython.double = column[i]
                for k in range(j + 1, i + 1):
                    factor[i * size + k] -= own * column[k]
        return True

    @cython.cfunc
    @cython.exceptval(check=False)
    @cython.boundscheck(False)
    def solve(self) -> cython.bint:
        """Find x; False, and x zero, where A is not positive definite to the last digits."""
        i: cython.int
        size: cython.int = self.size
        values: Doubles = self.values
        if not self.factorize():
            for i in range(size):
                values[i] = 0.0
            return False
        copy_into(values, self.wanted, size)
        self.substitute(size)
        return True

    @cython.cfunc
    @cython.exceptval(check=False)
    @cython.boundscheck(False)
    def substitute(self, count: cython.int) -> cython.void:
        """Solve the first `count` equations in place, with the factor at hand: `values` holds b, and becomes x."""
        i: cython.int
        k: cython.int
        size: cython.int = self.size
        factor: Doubles = self.factor
        values: Doubles = self.values
        total: cython.double
        for i in range(count):
            total = values[i]
            for k in range(i):
                total -= factor[i * size + k] * values[k]
            values[i] = total * factor[i * size + i]
        for i in range(count - 1, -1, -1):
            total = values[i]
            for k in range(i + 1, count):
                total -= factor[k * size + i] * values[k]
            values[i] = total * factor[i * size + i]
