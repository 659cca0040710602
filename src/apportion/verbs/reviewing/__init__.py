"""What a review is made of: the month's work by its kinds, its pools, what the policy's weights claim, and the policy as each finding would have it."""
