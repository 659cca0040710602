"""What advice is made of: what workloads were charged (`charged`), and what is known of them (`works`)."""
