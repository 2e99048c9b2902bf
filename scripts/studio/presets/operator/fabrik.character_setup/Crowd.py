import bpy

op = bpy.context.active_operator

op.controls = "BONES"
op.use_poles = False
op.use_limits = False
op.use_pins = True
op.use_fingers = False
op.use_tail = False
op.use_switches = True
