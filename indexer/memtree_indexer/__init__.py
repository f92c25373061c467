"""Background indexing: the stages that follow stage 1, their jobs, queues and workers."""
