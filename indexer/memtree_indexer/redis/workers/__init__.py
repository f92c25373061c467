"""Worker processes: lanes that take jobs, time slices, and recovery of lost jobs."""
