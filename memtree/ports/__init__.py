"""Ports of the core: stores, models, queues, a builder, a clock, peer processes.

Adapters live in `models/`, `stores/` and `indexer/`. Each port has one contract test class that
every adapter, and every fake, passes.
"""
