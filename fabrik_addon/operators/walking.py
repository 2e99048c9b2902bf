# SPDX-License-Identifier: GPL-3.0-or-later
"""Make walkers, plan their walks, and forget them."""

from __future__ import annotations

import bpy

from ..actions.chain_edit import working_rig
from ..actions.frames import rate_of
from ..actions.keep_pose import LetGo
from ..actions.walk.bake import MOST, bake_bones, bake_goals, mark_steps
from ..actions.walk.clip import cycle_text, load_cycle, use_cycle
from ..actions.walk.contacts import forget_marks
from ..actions.walk.plan import plan_steps
from ..actions.walk.posture import forget_posture
from ..actions.walk.setup import add_walker, remove_walker
from ..gait.settings import STYLES
from ..rig.schema import GAIT_LABELS, rig_of
from ..rig.schema.fields import FORGOTTEN, choice, real, switch, text
from ..texts import Text, counted, joined, quoted
from ..translations import label_
from .baking import RangeOperator, summary
from .base import FromFile, Returned, RigOperator, ToFile, listed

FOOTPRINT_ITEMS = (
    ("NONE", "None", "No footprints"),
    ("CURVE", "Curve", "One curve object with the outline of each sole"),
    ("EMPTIES", "Empties", "An empty for each footprint"),
)


class WalkerOperator(RigOperator):
    """An operator on a walker."""

    @classmethod
    def refusal(cls, context: bpy.types.Context) -> str:
        has_legs = len(rig_of(working_rig(context)).walker.legs)
        return "" if has_legs else Text("it is no walker yet: add one first")


class FABRIK_OT_walker_add(RigOperator):
    """Find, measure and group the legs, and choose a gait by their number; nothing moves before the walk is planned"""

    bl_label = "Add Walker"

    body_bone = text("Body Bone", "Name of the bone that carries all legs; empty to find it", options=FORGOTTEN)

    def run(self, context: bpy.types.Context, owner: bpy.types.Object) -> None:
        made = add_walker(context, owner, self.body_bone)
        done = [Text("made {chains}", chains=listed(made.made, "{count} chains"))] if made.made else []
        legs, gait = counted(len(made.legs), "1 leg", "{count} legs"), label_(GAIT_LABELS[made.gait])
        done.append(Text("{legs} on '{bone}', {gait}: plan the walk next", legs=legs, bone=made.body, gait=gait))
        names = listed(made.behind, "{count} chains")
        behind = Text("targets that stay behind while it walks, unless they are moved along: {chains}", chains=names)
        self.tell(*done, warnings=[behind] if names else [])


class FABRIK_OT_walk_style(WalkerOperator):
    """Let a walker with the gait Human walk in a style; plan the walk then"""

    bl_label = "Walk Style"

    style = choice([(one.name, one.label, one.description) for one in STYLES], "Style", "How it walks")

    @classmethod
    def refusal(cls, context: bpy.types.Context) -> str:
        is_human = rig_of(working_rig(context)).walker.gait == "HUMAN"
        return super().refusal(context) or ("" if is_human else Text("styles are those of the gait Human"))

    def run(self, context: bpy.types.Context, owner: bpy.types.Object) -> None:
        style = next(one for one in STYLES if one.name == self.style)
        for name, value in style.fields.items():
            setattr(rig_of(owner).walker, name, value)
        self.tell(Text("{style}: plan the walk next", style=style.label))


class FABRIK_OT_cycle_export(ToFile, WalkerOperator):
    """Write to a file how it walks: its settings, and the clips by which it goes; for other characters and projects"""

    bl_label = "Export Cycle"

    def run(self, context: bpy.types.Context, owner: bpy.types.Object) -> None:
        path = self.write(cycle_text(owner, rate_of(context.scene)))
        clips = [one.name for one in rig_of(owner).walker.clips]
        words = [Text("how '{name}' walks is written to '{path}'", name=owner.name, path=path)]
        self.tell(*words, *([Text("with the clips {clips}", clips=quoted(clips))] if clips else []))


class FABRIK_OT_cycle_import(FromFile, WalkerOperator):
    """Walk as a file says: by its settings, and by its clips, which become actions; plan the walk then"""

    bl_label = "Import Cycle"

    def run(self, context: bpy.types.Context, owner: bpy.types.Object) -> None:
        warnings = use_cycle(owner, load_cycle(self.path), rate_of(context.scene))
        gait = label_(GAIT_LABELS[rig_of(owner).walker.gait])
        self.tell(Text("{gait}: plan the walk next", gait=gait), warnings=warnings)


class FABRIK_OT_walk_plan(RangeOperator, WalkerOperator):
    """Plan the steps that carry the body along its keyed path, and let legs and body follow them"""

    bl_label = "Plan Walk"

    progress = Text("Planning Walk {share:.0%}")

    keep_contacts = switch(
        "Keep Contacts", "Take contacts as given that were moved, parted, drawn or placed by hand", default=True
    )
    below = ("keep_contacts",)

    def run(self, context: bpy.types.Context, owner: bpy.types.Object) -> Returned:
        frames = self.frames(context)
        steps = plan_steps(context, owner, (frames[0], frames[-1]), is_new=not self.keep_contacts)
        return self.take_steps(context, [owner], steps)

    def conclude_steps(self, result: LetGo) -> None:
        self.tell(*result.done, warnings=result.warnings)


class FABRIK_OT_walk_bake(RigOperator):
    """Make keys of the planned walk: few on goals, which can be edited, or on the bones in each frame"""

    bl_label = "Bake Walk"
    bl_options = {"REGISTER", "UNDO"}

    into = choice(
        (
            ("GOALS", "Goals", "Few keys on empties that feet and body follow, where feet lift and land and between"),
            ("BONES", "Bones", "Keys on the bones in each frame, in a copy of the action; the path stays in the old"),
        ),
        "Into",
        "What gets the keys",
    )
    tolerance = real(
        "Tolerance",
        "By how much a goal may be off the planned walk, as a share of the leg's reach",
        default=0.01,
        min=1e-4,
        max=MOST,
        precision=4,
    )

    @classmethod
    def refusal(cls, context: bpy.types.Context) -> str:
        walker = rig_of(working_rig(context)).walker
        return "" if walker.on and walker.digest else Text("no walk is planned, or it is switched off")

    def draw(self, context: bpy.types.Context) -> None:
        self.layout.use_property_split = True
        self.layout.prop(self, "into")
        column = self.layout.column()
        column.active = self.into == "GOALS"
        column.prop(self, "tolerance")

    def run(self, context: bpy.types.Context, owner: bpy.types.Object) -> None:
        if self.into == "BONES":
            result = bake_bones(context, owner)
            self.tell_each([(summary(result.chains), result.all_reached)])
            return
        told = bake_goals(context, owner, self.tolerance)
        keys = counted(told.keys, "1 key", "{count} keys")
        goals = counted(len(rig_of(owner).walker.legs) + 1, "1 goal", "{count} goals")
        words = [Text("{keys} on {goals}: live follows them now", keys=keys, goals=goals)]
        words += [Text("made {goals}", goals=listed(told.made, "{count} goals"))] if told.made else []
        self.tell(*words, warnings=told.notes)


class FABRIK_OT_walk_mark(RigOperator):
    """Mark the planned walk: footprints where feet land, and markers in the timeline when they do"""

    bl_label = "Mark Steps"
    poses = False

    footprints = choice(FOOTPRINT_ITEMS, "Footprints", "What is made where feet land", default="CURVE")
    use_markers = switch(
        "Markers", "A marker in the timeline for each foot that lands, with the names of walker and leg", default=True
    )

    @classmethod
    def refusal(cls, context: bpy.types.Context) -> str:
        return "" if rig_of(working_rig(context)).walker.digest else Text("no walk is planned")

    def run(self, context: bpy.types.Context, owner: bpy.types.Object) -> None:
        prints, markers = mark_steps(context, owner, self.footprints, use_markers=self.use_markers)
        words = [counted(prints, "1 footprint", "{count} footprints"), counted(markers, "1 marker", "{count} markers")]
        self.tell(joined(", ", words))


class FABRIK_OT_walker_remove(WalkerOperator):
    """Forget legs, settings and the planned walk; the chains of the legs stay, without the walk as their goal"""

    bl_label = "Remove Walker"
    poses = False

    def run(self, context: bpy.types.Context, owner: bpy.types.Object) -> None:
        forget_posture(owner)
        forget_marks(owner)
        remove_walker(owner)
        self.tell(Text("'{name}' is no walker any more", name=owner.name))
