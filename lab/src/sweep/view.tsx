// The form of a sweep, what it would take, and how far it is.

import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { checked, setup } from "../state/lab";
import { save } from "../state/files";
import { openOffered } from "../stored/state";
import { used } from "../own/files";
import type { Estimate, Progress } from "../engine/sweeps";
import { askHowLong, type Draft, draft, drafts, estimate, estimating, look, name, progress, refused, rename, said, SECOND, start, stop, sweeps, trials } from "./sweep";
import { ofEstimate, ofProgress } from "./words";

const ORDINALS = ["First", "Second"];

/** Keys that a sweep of the present scenario often varies. */
function keysOf(): string[] {
  const values = checked.value?.values ?? {};
  const named = (table: string) => {
    const found = values[table];
    return (Array.isArray(found) ? found : []).flatMap((one) => (typeof one === "object" && !Array.isArray(one) ? [String(one["name"])] : []));
  };
  const links = named("link").map((link) => `link.${link}`);
  const path = ["rate", "rtt", "buffer", "loss", "queue", "jitter"];
  return [...named("flow").map((flow) => `controller.${flow}`), ...(links.length > 0 ? links : ["path"]).flatMap((hop) => path.map((key) => `${hop}.${key}`))];
}

function Field({ label, value, set, list }: { label: string; value: string; set: (value: string) => void; list?: string }) {
  return (
    <label>
      <span>{label}</span>
      <input type="text" value={value} list={list} spellcheck={false} autocomplete="off" onInput={(event) => set(event.currentTarget.value)} />
    </label>
  );
}

function AxisForm({ index, axis }: { index: number; axis: Draft }) {
  const set = (key: keyof Draft) => (value: string) => draft(index, { [key]: value });
  return (
    <fieldset class="axis">
      <legend>{ORDINALS[index]} axis</legend>
      <Field label="Key" value={axis.key} set={set("key")} list="sweep-keys" />
      <label>
        <span>Values</span>
        <select value={axis.isRange ? "range" : "list"} onChange={(event) => draft(index, { isRange: event.currentTarget.value === "range" })}>
          <option value="list" selected={!axis.isRange}>
            listed
          </option>
          <option value="range" selected={axis.isRange}>
            from, to
          </option>
        </select>
      </label>
      {axis.isRange ? (
        <div class="range">
          <Field label="From" value={axis.from} set={set("from")} />
          <Field label="To" value={axis.to} set={set("to")} />
          <Field label="Steps" value={axis.steps} set={set("steps")} />
          <label>
            <span>Scale</span>
            <select value={axis.scale} onChange={(event) => draft(index, { scale: event.currentTarget.value })}>
              {["linear", "log"].map((scale) => (
                <option key={scale} value={scale} selected={scale === axis.scale}>
                  {scale}
                </option>
              ))}
            </select>
          </label>
        </div>
      ) : (
        <Field label="List" value={axis.values} set={set("values")} />
      )}
    </fieldset>
  );
}

function Estimated({ found, hasStarted }: { found: Estimate; hasStarted: boolean }) {
  const copied = useSignal("");
  const copy = () =>
    navigator.clipboard.writeText(found.command).then(
      () => (copied.value = "command copied"),
      () => (copied.value = "this browser does not let a page copy: select the text"),
    );
  return (
    <div class="estimate">
      {!hasStarted && <p>{ofEstimate(found)}</p>}
      <p>The same on the command line, in the folder of the lab:</p>
      <div class="command">
        <code tabIndex={0}>{found.command}</code>
        <button type="button" onClick={() => void copy()}>
          Copy
        </button>
      </div>
      <span role="status" class="said">
        {copied.value}
      </span>
      <details>
        <summary>The plan, which it reads from {found.file}</summary>
        <pre tabIndex={0}>{found.plan}</pre>
      </details>
      <div class="buttons">
        <button type="button" onClick={() => save(found.file, new Blob([found.plan], { type: "application/toml" }))}>
          Save the plan
        </button>
      </div>
    </div>
  );
}

function Going({ now }: { now: Progress }) {
  const { isRunning, trials = 0, done = 0, errors = [], refused: why } = now;
  return (
    <section aria-label={`sweep ${now.name}`} class="going">
      <h2>{now.name}</h2>
      {isRunning && <progress aria-label="trials of the sweep" max={Math.max(trials, 1)} value={done} />}
      <p data-sweep={isRunning ? "running" : why === undefined ? "ended" : "refused"} role={why === undefined ? undefined : "alert"} class={why === undefined ? "" : "refusal"}>
        {why ?? ofProgress(now)}
      </p>
      {errors.map((error) => (
        <p class="refusal" key={error}>
          failed: {error}
        </p>
      ))}
      {!isRunning && why === undefined && done > 0 && (
        <div class="buttons">
          <button type="button" class="main" onClick={() => void openOffered(now.name ?? "")}>
            Open the result
          </button>
        </div>
      )}
    </section>
  );
}

/** What is asked for. */
function Wanted() {
  return (
    <>
      <p class="quiet">
        The scenario that is shown, over values of one or two keys. Values stand between commas, or as <code>"5 Mbps", "20 Mbps"</code> where they have commas themselves. The trials are kept in a
        folder next to the scenarios, as <code>thalweg sweep</code> does.
      </p>
      <datalist id="sweep-keys">
        {keysOf().map((key) => (
          <option key={key} value={key} />
        ))}
      </datalist>
      {drafts.value.map((axis, index) => (
        <AxisForm key={index} index={index} axis={axis} />
      ))}
      <div class="buttons">
        <button type="button" onClick={() => (drafts.value = drafts.value.length > 1 ? drafts.value.slice(0, 1) : [...drafts.value, SECOND])}>
          {drafts.value.length > 1 ? "Remove the second axis" : "Add a second axis"}
        </button>
      </div>
      <div class="range">
        <Field label="Trials of each point" value={trials.value} set={(value) => (trials.value = value)} />
        <Field label="Name of the folder" value={name.value} set={rename} />
      </div>
    </>
  );
}

export function SweepForm() {
  useEffect(() => void look(), []); // another page may have started one
  if (!sweeps.value) {
    return (
      <p>
        A sweep, the same scenario over many values of one or two keys, needs <code>thalweg lab</code>: it writes its trials into a folder of your machine.
      </p>
    );
  }
  const hasOwn = Object.keys(used(setup.value)).length > 0;
  const isRunning = progress.value?.isRunning ?? false;
  const isBusy = isRunning || estimating.value !== null;
  const found = hasOwn ? null : estimate.value;
  const mayStart = isBusy || !found?.isLong;
  return (
    <form class="sweep" onSubmit={(event) => event.preventDefault()}>
      {hasOwn ? <p>A sweep runs no controllers in JavaScript or WebAssembly: choose another one under Path.</p> : <Wanted />}
      <div class="buttons">
        {!hasOwn && (
          <button type="button" aria-disabled={isBusy} onClick={() => !isBusy && void askHowLong()}>
            How long would it take?
          </button>
        )}
        {(isBusy || !hasOwn) && (
          <button type="button" class={isBusy || !mayStart ? "" : "main"} aria-disabled={!mayStart} onClick={() => (isBusy ? void stop() : mayStart && void start())}>
            {isRunning ? "Stop the sweep" : isBusy ? "Stop" : "Start the sweep"}
          </button>
        )}
      </div>
      {refused.value !== null && (
        <p class="refusal" role="alert">
          {refused.value}
        </p>
      )}
      {/* Numbers that change all the time are not read out. This is there from the begin, since what comes with its text is often not read. */}
      <p class="hidden" role="status">
        {said.value}
      </p>
      {progress.value && <Going now={progress.value} />}
      {found && <Estimated found={found} hasStarted={progress.value?.name === name.value} />}
    </form>
  );
}
