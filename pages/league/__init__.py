"""The league: CUBIC, Reno and BBR of stacks that others wrote, next to ours: docs/evidence/league.md."""
