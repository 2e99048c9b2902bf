# SPDX-License-Identifier: GPL-3.0-or-later
"""MikuMikuDance, in Japanese: `左足` is the leg from the hip, `左ひざ` its knee; with bones for IK beside them."""

from __future__ import annotations

from .convention import Convention

CONVENTION = Convention(
    label="MMD",
    marks="足 ひざ 足首 腕 ひじ 手首",
    parts={
        "ROOT": "全ての親 センター グルーブ 操作中心",
        "PELVIS": "腰 下半身",
        "SPINE": "上半身 上半身2 上半身3",
        "NECK": "首",
        "HEAD": "頭",
        "GIRDLE": "肩",
        "UPPER_ARM": "腕",
        "FOREARM": "ひじ",
        "HAND": "手首",
        "THIGH": "足",
        "SHIN": "ひざ",
        "FOOT": "足首",
        "TOE": "つま先",
        "HELPER": "足ik つま先ik 足ik親 腕捩 手捩 腕捩1 腕捩2 腕捩3 手捩1 手捩2 手捩3 肩p 肩c 腰キャンセル 足d"
        " ひざd 足首d 足先ex ダミー",
        "FINGER": "親指0 親指1 親指2 親指3 人指0 人指1 人指2 人指3 人差指0 人差指1 人差指2 人差指3 中指0 中指1"
        " 中指2 中指3 薬指0 薬指1 薬指2 薬指3 小指0 小指1 小指2 小指3",
        "FACE": "目 両目",
    },
)
