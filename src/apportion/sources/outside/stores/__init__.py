"""Object stores: S3 and what speaks its language, Google Cloud Storage, Azure Blob; read through obstore, never written.

`address` is what a path names, `opening` the settings and secrets, `objects` listing and fetching, `failures` what went wrong in sentences.
"""
