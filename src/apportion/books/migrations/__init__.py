"""Changes of the schema, one file each: `to_0002_closes` turns books of schema 1 into books of schema 2.

A file opens with why, and lists its steps (`books/steps.py`). The highest number is the schema of this version. A number that was released
never changes: what it lacks is the next one's to add.
"""
