"""Holding a scheduler to the policy's quotas: what is set there, what should be, and the plan that leads from one to the other."""
