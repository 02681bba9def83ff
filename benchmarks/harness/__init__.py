"""The bench harness: environments, processes, meters, slots, claims, reports. Standard library only."""
