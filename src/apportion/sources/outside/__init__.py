"""Asking what is outside: addresses that may be asked, secrets that are never shown, requests that are repeated within reason."""
