"""What each adapter does beyond its port's contract."""
