# SPDX-License-Identifier: GPL-3.0-or-later
"""How far the work is, told while it goes on."""

from __future__ import annotations

from time import monotonic

from .streams import put_aside, put_out

EVERY = 1.0  # seconds between two lines
FORMS = ("text", "openjd")


class Progress:
    """Tells a share of the work now and then.

    Args:
        form: "text" for lines such as "progress: 33.3" on standard error; "openjd" for lines that Open Job Description
            reads from standard output; "" for none.
        parts: Number of equal parts that the work has.
    """

    def __init__(self, form: str, parts: int = 1) -> None:
        self.form, self.parts = form, max(parts, 1)
        self.done = 0
        self._told = monotonic()

    def tell(self, share: float) -> None:
        """Tell how much of the part at hand is done, if some time has gone by."""
        now = monotonic()
        if self.form and now - self._told >= EVERY:
            self._told = now
            self._say((self.done + share) / self.parts)

    def end_part(self) -> None:
        """A part is done, which is told at once."""
        self.done += 1
        if self.form:
            self._say(self.done / self.parts)

    def _say(self, share: float) -> None:
        """Tell it, or nobody: that somebody stopped to listen does not stop the work."""
        if self.form == "openjd":
            put_out(f"openjd_progress: {100.0 * share:.1f}")
        else:
            put_aside(f"progress: {100.0 * share:.1f}")
