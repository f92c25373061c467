"""Records that requests leave behind them: a row in the log, and sums by day."""
