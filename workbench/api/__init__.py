"""The front door's functions and results: frames in, results out (floor 6).

`import workbench as wb` forwards to what stands here, as `workbench/__init__.pyi` lists it. Each
function reads what it is given, calls one room, and wraps what comes back as a `Result`.
"""
