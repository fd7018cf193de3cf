// Runs within a page of a Parquet file, looked through before a reader believes their lengths.
//
// Levels and indices are stored as runs (Parquet's RLE/bit-packing hybrid): of one value many times, or of groups of eight values. A
// reader takes as long as a run says, and as much room.

/** The values of an unpacked page of data: which of them there are, and how they are stored. */
export interface Page {
  values: number;
  /** Whether some may be missing: levels then stand before the values. */
  isOptional: boolean;
  /** Whether the values are indices of a dictionary. */
  isIndexed: boolean;
}

/** Refuses a page whose runs have more values than it, or end beyond it. Throws what a person can read. */
export function refuseRuns(bytes: Uint8Array, { values, isOptional, isIndexed }: Page): void {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let [at, known] = [0, values];
  if (isOptional) {
    const length = bytes.byteLength < 4 ? Number.NaN : view.getUint32(0, true);
    if (!(4 + length <= bytes.byteLength)) throw new Error(`levels of ${length} bytes in a page of ${bytes.byteLength}`);
    known = lookThrough(view, 4, 1, values);
    at = 4 + length;
  }
  if (!isIndexed) return;
  const width = at < bytes.byteLength ? view.getUint8(at) : Number.NaN;
  if (!(width <= 32)) throw new Error(`indices of ${width} bits`);
  if (width > 0) lookThrough(view, at + 1, width, known);
}

/** Goes through runs of `width` bits until there are so many values; how many of these are one. */
function lookThrough(view: DataView, begin: number, width: number, values: number): number {
  let [at, seen, ones] = [begin, 0, 0];
  const next = (): number => {
    if (at >= view.byteLength) throw new Error("runs that end beyond their page");
    return view.getUint8(at++);
  };
  while (seen < values) {
    let head = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = next();
      head += (byte & 0x7f) * 2 ** shift;
      if (byte < 0x80) break;
      if (shift >= 28) throw new Error("a run whose length is too long");
    }
    const isPacked = head % 2 === 1;
    const count = Math.floor(head / 2) * (isPacked ? 8 : 1);
    const left = values - seen;
    // The last group of eight may have values that stand for none.
    if (count === 0 || count > (isPacked ? left + 7 : left)) throw new Error(`a run of ${count} values where ${left} are left`);
    for (let byte = 0, most = isPacked ? (count * width) / 8 : Math.ceil(width / 8); byte < most; byte++) {
      const found = next();
      if (width !== 1) continue;
      if (!isPacked) ones += found === 1 ? count : 0;
      else for (let bit = 0; bit < Math.min(8, left - 8 * byte); bit++) ones += (found >> bit) & 1;
    }
    seen += count;
  }
  return ones;
}
