"""What users would pick instead of warpsmith, measured beside it on one GPU in one run. The command is `bench/run`."""
