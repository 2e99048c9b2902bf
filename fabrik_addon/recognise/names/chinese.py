# SPDX-License-Identifier: GPL-3.0-or-later
"""Names in Chinese."""

from __future__ import annotations

from .convention import Convention

CONVENTION = Convention(
    label="Chinese",
    marks="大腿 小腿",
    parts={
        "PELVIS": "骨盆 臀部",
        "SPINE": "脊椎 胸 腰",
        "NECK": "脖子 颈",
        "HEAD": "头",
        "GIRDLE": "肩 锁骨",
        "UPPER_ARM": "上臂",
        "FOREARM": "前臂",
        "HAND": "手",
        "THIGH": "大腿",
        "SHIN": "小腿",
        "FOOT": "脚",
        "TOE": "脚趾",
        "TAIL": "尾巴",
    },
)
