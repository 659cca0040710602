"""What every bill has in common, whoever wrote it.

A vendor's source says which columns of a file it reads and how a block of rows becomes FOCUS columns: its `Form`. The rest is here, once:

    part         a block of rows as they stand, read exactly or refused with the line
    fitting      amounts with more places than are kept, their sum exact
    form         what a vendor says about a file
    lines        FOCUS columns to cost lines, with what is wrong with some of them
    manifests    which files count now, where a vendor says so
    vendors      whose file it is, by its header
    datasets     the four datasets of FOCUS
    bill         a file read as a whole
    intake       the files of a source block by block, into the spool
    watch        for a vendor that must see all lines before any is handed over
    placing      lines without a readable period
    identity     ids that depend on contents alone
    repeats      lines that several files hold
    deliveries   lines by billing period, with their problems, files and scopes
    components   compute, storage, network, licence, energy, support or other
"""
