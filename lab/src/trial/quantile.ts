// Quantiles of a sample, as python/thalweg/judging/statistics/quantiles.py has them.

/** A quantile by linear interpolation between order statistics. What did not finish is infinite, and never left out. */
export function quantile(found: ArrayLike<number>, share: number): number {
  const sorted = Float64Array.from(found).sort();
  const position = (sorted.length - 1) * share;
  const [low, high] = [sorted[Math.floor(position)], sorted[Math.ceil(position)]];
  if (low === undefined || high === undefined) return Number.NaN;
  return low === high || !Number.isFinite(low) ? low : low + (position - Math.floor(position)) * (high - low);
}
