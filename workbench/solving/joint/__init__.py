"""Labels of several classes: cover as one convex budget a task, solved by tangents and by sets."""
