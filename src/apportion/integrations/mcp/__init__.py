"""Apportion for assistants, by the Model Context Protocol: the read verbs as tools, under the roles of the server that is asked."""
