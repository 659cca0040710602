"""What monitoring reads: families of samples, made of the same records, estimates and reports as everything else. Never of users or runs."""
