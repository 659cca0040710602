"""Other people's tools: what makes them work with Apportion. See README.md."""
