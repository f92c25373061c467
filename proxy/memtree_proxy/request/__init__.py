"""Read what a request says about memory: fields, switches, context windows, prices."""
