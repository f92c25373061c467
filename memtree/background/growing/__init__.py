"""Run stage 1 outside of the event loop: inline if it is short, else in a thread or a child
process."""
