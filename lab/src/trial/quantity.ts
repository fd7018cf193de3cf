// Quantities as people read them: three significant digits with a unit.

export type Unit = "s" | "bps" | "bytes" | "packets" | "share" | "";

const PREFIXES: Record<Unit, [number, string][]> = {
  s: [
    [1, "s"],
    [1e-3, "ms"],
    [1e-6, "µs"],
  ],
  bps: [
    [1e9, "Gbps"],
    [1e6, "Mbps"],
    [1e3, "kbps"],
    [1, "bps"],
  ],
  bytes: [
    [1e9, "GB"],
    [1e6, "MB"],
    [1e3, "kB"],
    [1, "B"],
  ],
  packets: [[1, "packets"]],
  share: [[0.01, "%"]],
  "": [[1, ""]],
};

/** The factor and the name with which the largest of some values is a number of one to three digits. */
export function scale(unit: Unit, size: number): [number, string] {
  const all = PREFIXES[unit];
  return all.find(([factor]) => Math.abs(size) >= factor) ?? (all[all.length - 1] as [number, string]);
}

/** `0.0123` in seconds as `12.3 ms`; a dash for what has no value. */
export function text(value: number | null | undefined, unit: Unit, digits = 3): string {
  if (value === null || value === undefined || Number.isNaN(value)) return "–";
  if (!Number.isFinite(value)) return "unlimited";
  const [factor, name] = value === 0 ? [1, (PREFIXES[unit].find(([one]) => one === 1) ?? [1, "%"])[1]] : scale(unit, value);
  const shown = value === 0 ? "0" : significant(value / factor, digits);
  return name ? `${shown} ${name}` : shown;
}

function significant(value: number, digits: number): string {
  const whole = Math.max(0, digits - 1 - Math.floor(Math.log10(Math.abs(value))));
  return value.toFixed(Math.min(whole, 9));
}

/** As a scenario writes it: `12.5 Mbps`, with no more digits than are needed. */
export function written(value: number, unit: "s" | "bps" | "bytes" | "share"): string {
  const [factor, name] = scale(unit, value);
  return `${Number((value / factor).toPrecision(3))} ${name === "µs" ? "us" : name}`;
}
