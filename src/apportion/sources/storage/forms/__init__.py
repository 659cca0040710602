"""Forms of reports: one module for each family of tools. Which form a text has is seen from the text."""
