// The charts of the present run: alone, beside the one that was kept, over it, or less it.

import { computed, signal, useComputed } from "@preact/signals";
import { useMemo } from "preact/hooks";
import { Chart, rowsOf, Zoom } from "../chart/chart";
import { field } from "../field/field";
import { narrow } from "../chart/appearance";
import { keep, kept, named, run } from "../state/lab";
import { difference } from "../trial/difference";
import { over } from "../trial/over";

type Form = "beside" | "over" | "difference";
const chosen = signal<Form | null>(null);
/** Charts beside each other have no room on a telephone. */
const form = computed<Form>(() => chosen.value ?? (narrow.value ? "over" : "beside"));

const FORMS: Record<Form, string> = { beside: "side by side", over: "over each other", difference: "difference" };

export function Charts() {
  /** What stands beside the present run: a measurement, or a run that was kept. */
  const other = useComputed(() => {
    if (field.value) return { name: field.value.name, picture: field.value.picture, isRun: false };
    return kept.value && { name: named(kept.value, run.value), picture: kept.value.picture, isRun: true };
  });
  const joined = useComputed(() => {
    const [shown, beside] = [run.value, other.value];
    if (!shown || !beside || form.value === "beside") return null;
    if (form.value === "difference") return difference(shown.picture, beside.picture);
    return over(shown.picture, beside.picture, ["this run", beside.isRun ? "kept" : "measured"]);
  });
  const [shown, beside] = [run.value, other.value];
  const rows = useMemo(() => (shown && beside ? rowsOf(beside.picture, shown.picture) : []), [shown?.picture, beside?.picture]);
  if (!shown) return null;
  const name = named(shown, kept.value);
  return (
    <section class="charts" aria-label="time series of the trial">
      <header>
        <h2>Over time</h2>
        <button type="button" aria-pressed={beside !== null} onClick={keep}>
          {beside ? "Stop comparing" : "Keep this run to compare"}
        </button>
        {beside && (
          <select aria-label="how two runs are compared" value={form.value} onChange={(event) => (chosen.value = event.currentTarget.value as Form)}>
            {Object.entries(FORMS).map(([value, words]) => (
              <option key={value} value={value} selected={value === form.value}>
                {words}
              </option>
            ))}
          </select>
        )}
        <Zoom />
      </header>
      {beside && <p class="quiet">{form.value === "difference" ? `This run (${name}) less the other one (${beside.name}).` : "Now change the path, a controller or the seed: the run that was kept stays."}</p>}
      {beside && form.value === "beside" ? (
        <div class="two" style={{ "--rows": rows.length + 1 }}>
          <div>
            <h3>{beside.name}</h3>
            <Chart picture={beside.picture} beside={shown.picture} rows={rows} name={beside.isRun ? "kept run" : "measurement"} />
          </div>
          <div>
            <h3>{name}</h3>
            <Chart picture={shown.picture} beside={beside.picture} rows={rows} name="this run" />
          </div>
        </div>
      ) : (
        <Chart picture={joined.value ?? shown.picture} name={joined.value ? (form.value === "over" ? "two runs over each other" : "difference of two runs") : "this run"} />
      )}
    </section>
  );
}
