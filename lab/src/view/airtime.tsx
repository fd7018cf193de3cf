// Whose the time of a medium was for which stations contend: the shares of each hop, as a bar and in numbers.

import { theme } from "../chart/appearance";
import type { Run } from "../state/lab";
import { numbers, words } from "../trial/columns";
import type { Hue } from "../words/looks";
import { text } from "../words/quantity";
import { Term } from "../words/term";

interface Share {
  whose: string;
  /** None: nobody's. */
  hue: Hue | null;
  share: number;
}

/** The hops whose links have shares: each has its two links in turn, from the access point and back. */
function hopsOf(of: Run) {
  const links = of.trial.outcomes.links;
  const names = words(links, "link");
  const column = (name: string, row: number) => numbers(links, name)[row] ?? NaN;
  const hops: { name: string; shares: Share[]; failed: [number, number] }[] = [];
  for (let row = 0; row + 1 < names.indices.length; row += 2) {
    if (Number.isNaN(column("airtime", row))) continue;
    hops.push({
      name: names.words[names.indices[row] as number] as string,
      shares: [
        { whose: "access point", hue: "blue", share: column("airtime", row) },
        { whose: "client", hue: "green", share: column("airtime", row + 1) },
        { whose: "neighbours", hue: "orange", share: column("airtime_of_neighbours", row) },
        { whose: "several at once", hue: "vermilion", share: column("airtime_of_several", row) },
        { whose: "nobody", hue: null, share: column("airtime_idle", row) },
      ],
      failed: [column("failed_attempts", row), column("failed_attempts", row + 1)],
    });
  }
  return hops;
}

const ground = (hue: Hue | null) => (hue ? theme.value.hues[hue] : "var(--line)");

export function Airtime({ of }: { of: Run }) {
  return (
    <>
      {hopsOf(of).map(({ name, shares, failed }) => (
        <figure class="airtime" key={name} aria-label={`airtime of ${name}`}>
          <figcaption>
            <Term term="airtime">Airtime</Term> of <b>{name}</b>
          </figcaption>
          <div class="bar" aria-hidden="true">
            {shares.map(({ whose, hue, share }) => (
              <span key={whose} style={{ background: ground(hue), width: `${100 * share}%` }} />
            ))}
          </div>
          <ul class="legend">
            {shares.map(({ whose, hue, share }) => (
              <li key={whose}>
                <span class="block" style={{ background: ground(hue) }} />
                {whose} <strong data-airtime={whose}>{text(share, "share")}</strong>
              </li>
            ))}
            <li>
              attempts that failed: {text(failed[0], "share")} down, {text(failed[1], "share")} up
            </li>
          </ul>
        </figure>
      ))}
    </>
  );
}
