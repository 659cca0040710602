"""Cells of a column to model values, a whole column at a time; what cannot be taken is named by row and code, never guessed."""
