import bpy

op = bpy.context.active_operator

op.space = "BODY"
op.roles = "BOTH"
