"""Stage 1 off the event loop: inline, in a thread, or in a child process."""
