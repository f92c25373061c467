"""Write the text of a memory message: labels, quotations, its title."""
