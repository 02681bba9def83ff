"""What tests of every kind share: processes that cannot outlive a test, and real databases on free ports."""
