"""Messages to people: what an event says as text, mail, Slack blocks and an Adaptive Card."""
