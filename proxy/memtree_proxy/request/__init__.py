"""Read the parts of a request that concern memory: fields, switches, context windows, prices."""
