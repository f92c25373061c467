"""Words and phrases by which `extraction` knows what a sentence is."""
