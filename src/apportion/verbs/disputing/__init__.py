"""What a dispute is about, and what its end moves."""
