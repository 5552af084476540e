"""What generates rollouts while a trainer changes the weights."""
