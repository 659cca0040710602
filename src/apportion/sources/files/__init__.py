"""Files that a source reads: found inside the project, read once, hashed while read, bounded, and laid out as columns."""
