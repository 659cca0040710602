"""Rules for Prometheus, as it reads them."""
