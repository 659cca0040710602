"""What each GPU board did, measured on its node: `apportion agent` writes batches, the source `agent` reads them.

A node needs only the first half (looks, owners, meter, spool); the half that makes tables (batches, rows, source) is not loaded there.
"""
