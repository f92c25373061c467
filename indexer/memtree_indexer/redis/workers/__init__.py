"""Worker processes: lanes that take jobs, time slices, recovery of lost jobs."""
