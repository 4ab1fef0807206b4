"""Trials of pre-training: the same settings but one, for the same time, measured on validation data as they learn."""
