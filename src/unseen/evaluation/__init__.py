"""Numbers one can trust: ranks, metrics, strata, calibration, and the reports made of them."""
