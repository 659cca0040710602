"""People and programs come in by pages and the API: logins, tokens and webhooks, and what they set, propose and push."""

from apportion.books.steps import Tables

STEPS = (Tables("sessions", "tickets", "logins", "tokens", "budgets", "proposals", "pushes", "hooks", "tellings"),)
