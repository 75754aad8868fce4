"""What resampling needs: draws, running totals, interval ends."""
