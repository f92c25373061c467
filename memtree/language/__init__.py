"""Words and phrases of human languages, kept as data: `data/<language>/<file>.txt`."""
