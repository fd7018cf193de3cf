"""Many trials for one question: suites, sweeps, hunts, scores and studies."""
