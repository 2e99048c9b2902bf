from array import array
from typing import TypeAlias

V3: TypeAlias = tuple[float, float, float]
Q4: TypeAlias = tuple[float, float, float, float]
Doubles: TypeAlias = array[float]
Ints: TypeAlias = array[int]
