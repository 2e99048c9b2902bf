# SPDX-License-Identifier: GPL-3.0-or-later
"""The rungs by which a figure comes to its goals, from known answers to least squares.

A chain whose tip has a target climbs until it is there; `solver.py` takes it onto the ladder, and stays at the start
pose where that is there already.

1. Without limits (`free.py`): known answers for one and two bones and for what is out of reach; else FABRIK's passes
   (`passes.py`), every few of them followed by a match of the distance along the chain's reach (`reach.py`).
2. With limits (`limited.py`): the way of a limb, from its start to its shortest or longest pose (`limb.py`, `way.py`),
   or where there is none FABRIK's passes with the limits carried along.
3. Descents by damped least squares from there (`descent.py`, whose steps are in `turning.py`).
4. With limits restarts, from other poses inside them (`starts.py`).

Then a pole turns it about the line to its tip (`pole.py`). A figure with other goals than that has descents alone, rank
by rank and then from other starts (`bodies.py`, `body_starts.py`). Which limits hold it back is found last
(`blocked.py`).
"""
