"""How fast the server is: beside other programs in the same run, in counts of work, and whether it
still sends the same bytes. `python -m benchmarks.speed NAME`; docs/testing.md lists the names."""
