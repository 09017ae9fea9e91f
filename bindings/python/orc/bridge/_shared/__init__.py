"""What all bridges have in common."""
