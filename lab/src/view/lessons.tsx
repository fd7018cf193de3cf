// Lessons: predict, run, and read what happened. The runs are drawn beside each other.

import { signal } from "@preact/signals";
import { useLayoutEffect, useRef } from "preact/hooks";
import { LESSONS } from "../lessons/catalogue";
import type { Figure, Lesson } from "../lessons/lesson";
import type { Outcomes } from "../engine/engine";
import { failure, stopLesson, taught, teach, teaching } from "../state/lab";
import { numbers, words } from "../trial/columns";
import { text } from "../words/quantity";
import { quantile } from "../trial/quantile";

const lesson = signal<Lesson | null>(null);
const predicted = signal<number | null>(null);
/** The trials of the lesson's two setups, once they have been made. */
const seen = signal<[Outcomes, Outcomes] | null>(null);
/** One trial is an example; an answer needs more. */
const SEEDS = Array.from({ length: 30 }, (_, index) => BigInt(index + 1));

/** The median over trials of the number that a figure names. */
export function numberOf(outcomes: Outcomes, figure: Figure): number {
  const table = figure.stream === undefined ? outcomes.flows : outcomes.streams;
  const flows = words(table, "flow");
  const first = flows.words[0];
  const own = numbers(table, figure.column).filter(
    (_, index) =>
      flows.words[flows.indices[index] as number] === (figure.flow ?? first) &&
      (figure.stream === undefined || streamOf(table, index) === figure.stream),
  );
  // As python/thalweg/results/measured.py: what did not finish has an infinite completion, other numbers are of the trials that have them.
  const found = figure.column === "completion_s" ? own.map((value) => (Number.isNaN(value) ? Infinity : value)) : own.filter((value) => !Number.isNaN(value));
  return quantile(found, 0.5);
}

function streamOf(table: Parameters<typeof words>[0], row: number): string | undefined {
  const streams = words(table, "stream");
  return streams.words[streams.indices[row] as number];
}

/** The lesson that was open before, whose button has the focus in the list. */
let left: Lesson | null = null;

/** Opens a lesson by its name; false if there is none. */
export function chooseLesson(id: string): boolean {
  const found = LESSONS.find((one) => one.id === id);
  if (found) choose(found);
  else failure.value = `there is no lesson "${id}"; accepted: ${LESSONS.map((one) => one.id).join(", ")}`;
  return found !== undefined;
}

/** Opens a lesson, or the list of them; the address says which, for those who pass it on. */
function choose(chosen: Lesson | null): void {
  left = lesson.value;
  history.replaceState(null, "", chosen ? `#lesson=${chosen.id}` : location.pathname + location.search);
  lesson.value = chosen;
  predicted.value = null;
  seen.value = null;
  stopLesson();
}

async function make(chosen: Lesson): Promise<void> {
  const [[, first], [, second]] = chosen.runs;
  const outcomes = await teach([first, second], SEEDS);
  if (lesson.value === chosen) seen.value = outcomes;
}

export function Lessons() {
  const chosen = lesson.value;
  const runs = seen.value;
  const box = useRef<HTMLElement>(null);
  const take = (element: HTMLElement | null) => void (element && (box.current = element));
  const before = useRef({ chosen, runs });
  // What had the focus is gone: it goes to what has come in its place.
  useLayoutEffect(() => {
    const { chosen: last, runs: lastRuns } = before.current;
    before.current = { chosen, runs };
    if (last === chosen && (lastRuns === runs || runs === null)) return;
    const isElsewhere = document.activeElement !== document.body && document.activeElement !== null;
    if (isElsewhere && last === chosen) return;
    const wanted = chosen ? (runs ? ".promise" : "h2") : `[data-lesson="${left?.id}"]`;
    box.current?.querySelector<HTMLElement>(wanted)?.focus();
  }, [chosen, runs]);
  if (!chosen) {
    return (
      <ol class="lessons" ref={take}>
        {LESSONS.map((one) => (
          <li key={one.id}>
            <button type="button" data-lesson={one.id} onClick={() => choose(one)}>
              {one.title}
            </button>
          </li>
        ))}
      </ol>
    );
  }
  const [[first], [second]] = chosen.runs;
  const right = predicted.value === chosen.right;
  return (
    <article class="lesson" ref={take}>
      <button type="button" onClick={() => choose(null)}>
        <span aria-hidden="true">‹ </span>All lessons
      </button>
      <h2 tabIndex={-1}>{chosen.title}</h2>
      <p>{chosen.question}</p>
      <fieldset disabled={runs !== null}>
        <legend>What do you predict?</legend>
        {chosen.choices.map((choice, index) => (
          <label key={choice}>
            <input type="radio" name="prediction" checked={predicted.value === index} onChange={() => (predicted.value = index)} /> {choice}
          </label>
        ))}
      </fieldset>
      {!runs && (
        <button type="button" class="main" disabled={predicted.value === null || teaching.value} onClick={() => void make(chosen).catch((error: Error) => (failure.value = error.message))}>
          Run both
        </button>
      )}
      {!runs && teaching.value && (
        <>
          <progress max={2 * SEEDS.length} value={taught.value} aria-label="trials of this lesson" />
          <p class="quiet" role="status">
            {taught.value} of {2 * SEEDS.length} trials
          </p>
        </>
      )}
      {runs && (
        <>
          <p class={right ? "promise good" : "promise bad"} role="status" tabIndex={-1}>
            {right ? "That is what happened." : `Not quite. ${chosen.choices[chosen.right]}.`}
          </p>
          <table>
            <thead>
              <tr>
                <td />
                <th scope="col">{first}</th>
                <th scope="col">{second}</th>
              </tr>
            </thead>
            <tbody>
              {chosen.figures.map((figure) => (
                <tr key={figure.name}>
                  <th scope="row">{figure.name}</th>
                  {runs.map((one, index) => (
                    <td key={index}>{figure.unit === "packets" ? numberOf(one, figure) : text(numberOf(one, figure), figure.unit)}</td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
          <p class="quiet">Medians of {SEEDS.length} trials; the charts show the trial with seed 1.</p>
          <h3>What happened</h3>
          <p>{chosen.after}</p>
          <p>
            <b>Look at:</b> {chosen.look}
          </p>
          <p class="source">{chosen.source}</p>
          <button
            type="button"
            onClick={() => {
              const next = LESSONS[LESSONS.indexOf(chosen) + 1];
              choose(next ?? null);
            }}
          >
            {LESSONS.at(-1) === chosen ? "All lessons" : "Next lesson"}
          </button>
        </>
      )}
    </article>
  );
}
