"""unseen."""
