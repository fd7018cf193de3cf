// What came of the trial: each criterion with its target and floor, and the numbers of each flow and stream of media.

import { used } from "../own/files";
import type { Criterion } from "../engine/engine";
import { about, kept, linked, type Run, run } from "../state/lab";
import { numbers, words } from "../trial/columns";
import { text } from "../words/quantity";
import { completionOf, meets, missing, subject, values } from "../trial/verdict";
import { Term } from "../words/term";
import { Airtime } from "./airtime";
import { Numbers } from "./numbers";
import { Streams } from "./streams";

const HEADS = ["flow", "controller", "completed", "mean rate", "mean RTT", "mean wait in queues", "lost", "marked"];

/** Whether the trial is the one that a link, or a stored result, has promised. */
function HashCheck() {
  const [promised, shown] = [linked.value, run.value];
  if (!promised || shown?.setup !== promised.setup) return null;
  const other = promised.kept && kept.value?.setup === promised.kept.setup ? kept.value.trial.hash : undefined;
  const same = promised.hash === shown.trial.hash && (other === undefined || other === promised.kept?.hash);
  const hasCode = Object.keys(used(promised.setup)).length > 0;
  const page = about.value?.version ?? "another version";
  return (
    <p class={same ? "promise good" : "promise bad"} role="status">
      {same
        ? hasCode
          ? "As far as can be told, the hashes are equal: the code in this link runs where they are computed."
          : "This is the same trial: the hashes are equal."
        : `This is not the same trial: that one was made with version ${promised.version}, this page has ${page === promised.version ? "another build of it" : page}.`}
    </p>
  );
}

/** The verdict of the run that was kept, by its own criterion of this name. */
function KeptVerdict({ of, by }: { of: Run; by: Criterion }) {
  const own = of.checked.criteria.find((one) => subject(one) === subject(by) && one.source === by.source && one.informative === by.informative);
  if (!own) return null;
  const [value = missing(own)] = values(of.trial.outcomes, own, 1, of.checked.startsS);
  return (
    <span class="kept">
      kept: {text(value, own.unit)} {meets(value, own) ? "✓" : "✗"}
    </span>
  );
}

/** A row for each flow of a run; `mark` tells those of the kept one. */
function Rows({ of, mark = "" }: { of: Run; mark?: string }) {
  const flows = of.trial.outcomes.flows;
  const [names, controllers] = [words(flows, "flow"), words(flows, "controller")];
  const column = (name: string, row: number) => numbers(flows, name)[row];
  // As the command line counts: from the planned start of the flow.
  const completion = (row: number) => values(of.trial.outcomes, completionOf(names.words[names.indices[row] as number] as string), 1, of.checked.startsS)[0] as number;
  return (
    <>
      {Array.from(names.indices, (index, row) => (
        <tr key={row} class={mark ? "kept" : ""}>
          <th scope="row">
            {names.words[index]}
            {mark}
          </th>
          <td>{controllers.words[controllers.indices[row] as number]}</td>
          <td data-column={mark ? "kept" : "completion_s"}>{text(completion(row), "s", 4)}</td>
          <td>{text(column("mean_rate_bps", row), "bps")}</td>
          <td>{text(column("mean_rtt_s", row), "s")}</td>
          <td>{text(column("mean_queue_delay_s", row), "s")}</td>
          <td>
            {column("packets_lost", row)} of {column("packets_sent", row)}
          </td>
          <td>{column("packets_marked", row)}</td>
        </tr>
      ))}
    </>
  );
}

export function Outcome() {
  const shown = run.value;
  if (!shown) return null;
  const { checked, trial } = shown;
  const before = kept.value;
  return (
    <section class="outcome" aria-label="outcome of the trial">
      <HashCheck />
      {checked.criteria.length > 0 && (
        <ul class="criteria">
          {checked.criteria.map((criterion) => {
            const [value = missing(criterion)] = values(trial.outcomes, criterion, 1, checked.startsS);
            const met = meets(value, criterion);
            const bound = criterion.at_most ?? criterion.at_least;
            return (
              <li key={`${subject(criterion)} ${bound} ${criterion.source}`} class={criterion.informative ? "informative" : met ? "good" : "bad"}>
                <span class="subject">{subject(criterion)}</span>
                <strong>{text(value, criterion.unit)}</strong>
                <span class="bound">
                  {met ? "✓" : "✗"} {criterion.at_most === null ? "at least" : "at most"} {text(bound, criterion.unit)}
                  {criterion.floor !== null && <>; <Term term="floor">floor</Term> {text(criterion.floor, "s")}</>}
                </span>
                {before && <KeptVerdict of={before} by={criterion} />}
                <span class="source">{criterion.source}</span>
              </li>
            );
          })}
        </ul>
      )}
      <Numbers label="numbers of each flow" heads={HEADS}>
        <Rows of={shown} />
        {before && <Rows of={before} mark=" (kept)" />}
      </Numbers>
      <Streams of={shown} before={before} />
      <Airtime of={shown} />
      <p class="fingerprint">
        <Term term="seed">seed</Term> {String(trial.seed)} · <Term term="trace hash">trace hash</Term> <code data-hash>{trial.hash}</code> ·{" "}
        {numbers(trial.outcomes.trials, "packets")[0]} packets in {trial.milliseconds.toFixed(1)} ms
      </p>
    </section>
  );
}
