"""What statements are made of, read from the books: the figures placed with their owners, the work behind them, and the words."""
