import bpy

op = bpy.context.active_operator

op.controls = "BONES"
op.use_poles = True
op.use_limits = True
op.use_pins = True
op.use_fingers = True
op.use_tail = True
op.use_switches = True
