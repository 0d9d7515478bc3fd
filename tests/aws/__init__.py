"""What only the AWS adapters promise, on a local AWS. Tests reach it by the address that `local` gives them."""
