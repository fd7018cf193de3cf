// Quantities as people read them, as python/thalweg/base/quantity.py writes them: tests/lab/alike/quantities.json holds for both.

export type Unit = "s" | "bps" | "bytes" | "packets" | "share" | "";

const PREFIXES: Record<Unit, [number, string][]> = {
  s: [
    [1, "s"],
    [1e-3, "ms"],
    [1e-6, "us"],
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

/** `0.0123` in seconds as `12.3 ms`. A time that does not exist is infinite, an unknown number is NaN. */
export function text(value: number | null | undefined, unit: Unit, digits = 3): string {
  if (value === null || value === undefined || Number.isNaN(value)) return "-";
  if (!Number.isFinite(value)) return value > 0 && unit !== "share" ? "did not finish" : "not measured";
  // Rounded first: 0.9996 s with three digits is 1 s, not 1000 ms.
  const [factor, name] = value === 0 ? unprefixed(unit) : scale(unit, rounded(value, digits));
  return `${general(rounded(value / factor, digits))} ${name}`.trimEnd();
}

/** As a scenario writes it: `12.5 Mbps`. */
export function written(value: number, unit: "s" | "bps" | "bytes" | "share"): string {
  return text(value, unit);
}

function unprefixed(unit: Unit): [number, string] {
  const all = PREFIXES[unit];
  return all.find(([factor]) => factor === 1) ?? (all[0] as [number, string]);
}

/** To this many significant digits. What lies in the middle goes to the even digit, as in Python. */
function rounded(value: number, digits: number): number {
  const [exact = "", exponent] = Math.abs(value).toExponential(99).split("e");
  const shown = exact.replace(".", "");
  const isEven = Number(shown[digits - 1]) % 2 === 0;
  if (!isEven || !/^50*$/.test(shown.slice(digits))) return Number(value.toPrecision(digits));
  return Math.sign(value) * Number(`${shown.slice(0, digits)}e${Number(exponent) - digits + 1}`);
}

/** What Python calls the general format: no exponent up to a million. */
function general(value: number): string {
  const [mantissa, exponent] = value.toExponential().split("e");
  const size = Number(exponent);
  if (size >= -4 && size < 6) return String(value);
  return `${mantissa}e${size < 0 ? "-" : "+"}${String(Math.abs(size)).padStart(2, "0")}`;
}
