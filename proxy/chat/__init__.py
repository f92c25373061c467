"""`/chat/completions`: the history shortened by memory on its way to the upstream."""
