"""What every bill has in common, whoever wrote it.

A vendor's source says which columns of a file it reads and how a block of rows becomes FOCUS columns: its `Form`. The rest is here, once:

    part         a block of rows as they stand, read exactly or refused with the line
    form         what a vendor says about a file
    lines        FOCUS columns to cost lines, with what is wrong with some of them
    manifests    which files count now, where a vendor says so
    bill         the files of a source, one after the other
    placing      lines without a readable period
    identity     ids that depend on contents alone
    deliveries   lines by billing period, with their problems, files and scopes
    components   compute, storage, network, licence, energy, support or other
"""
