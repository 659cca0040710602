"""A first policy from what was seen: pure functions from delivered tables (and a price list) to the policy's text and findings about it."""
