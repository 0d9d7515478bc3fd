"""`python -m perdure`: the same as the `perdure` command."""

from perdure.cli import main

raise SystemExit(main())
