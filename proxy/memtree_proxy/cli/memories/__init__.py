"""`memtree memories`: what whoever runs the store does with saved memories."""
