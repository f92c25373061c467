"""The queues beyond one process: jobs in Redis, done by `memtree worker` (extra `redis`)."""
