"""Programs written for other servers, run by this one: ``tarmac.compat.japronto``."""
