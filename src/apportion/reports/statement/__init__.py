"""What one owner receives for one period."""
