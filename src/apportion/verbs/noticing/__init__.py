"""What noticing takes: reading four months of the record (`known`), and a file for what each kind is looked for in."""
