"""The league: CUBIC, Reno and BBR of stacks that others wrote, beside ours: docs/evidence/league.md."""
