"""WHAT HAPPENED: one file or folder per source; the outside world becomes model rows and problems."""
