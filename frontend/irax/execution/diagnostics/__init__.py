"""What a program tells of itself: explanations, profiles, memory, progress, a debugger."""
