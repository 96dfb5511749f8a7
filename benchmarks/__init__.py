"""What things cost, measured side by side in one run. Read the ratios: machines differ, and so do days."""
