"""Slurm's accounting: from `sacct` on this machine, behind a wrapper such as ssh, or from files that it wrote."""
