// What came of the media of calls: a row for each stream, with the numbers that `thalweg run` prints.

import type { Run } from "../state/lab";
import { numbers, words } from "../trial/columns";
import { text, type Unit } from "../words/quantity";
import { Numbers } from "./numbers";

/** Heading, column of the outcomes and unit. */
const COLUMNS: readonly [string, string, Unit][] = [
  ["median delay", "p50_delay_s", "s"],
  ["p95 delay", "p95_delay_s", "s"],
  ["p99 delay", "p99_delay_s", "s"],
  ["worst delay", "max_delay_s", "s"],
  ["first frame", "first_frame_s", "s"],
  ["late", "late", ""],
  ["freezes", "freezes", ""],
  ["frozen", "frozen_s", "s"],
  ["media rate", "media_rate_bps", "bps"],
  ["MOS", "mos", ""],
];

function Rows({ of, mark = "" }: { of: Run; mark?: string }) {
  const { streams } = of.trial.outcomes;
  const [flows, names] = [words(streams, "flow"), words(streams, "stream")];
  return (
    <>
      {Array.from(names.indices, (index, row) => (
        <tr key={row} class={mark ? "kept" : ""}>
          <th scope="row">
            {flows.words[flows.indices[row] as number]} {names.words[index]}
            {mark}
          </th>
          {COLUMNS.map(([, name, unit]) => (
            <td key={name} data-column={mark ? "kept" : name}>
              {text(numbers(streams, name)[row], unit, 4)}
            </td>
          ))}
        </tr>
      ))}
    </>
  );
}

export function Streams({ of, before }: { of: Run; before: Run | null }) {
  if (words(of.trial.outcomes.streams, "stream").indices.length === 0) return null;
  return (
    <Numbers label="numbers of each stream of media" heads={["stream", ...COLUMNS.map(([head]) => head)]}>
      <Rows of={of} />
      {before && <Rows of={before} mark=" (kept)" />}
    </Numbers>
  );
}
