// A hundred trials as a strip of dots: where they lie, target and floor, and how many meet it. A dot opens its trial.

import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { textScale } from "../chart/text_scale";
import type { CheckedScenario, Criterion, Outcomes } from "../engine/engine";
import { change, finished, many, seed, TRIALS } from "../state/lab";
import { text, type Unit } from "../words/quantity";
import { quantile } from "../trial/quantile";
import { completionOf, judge, meets, subject, values } from "../trial/verdict";

interface Distribution {
  title: string;
  unit: Unit;
  values: Float64Array;
  criterion: Criterion | null;
}

/** What a strip may show: each criterion, or the completion of the first flow. */
function choices(outcomes: Outcomes, { criteria, startsS }: CheckedScenario): Distribution[] {
  const of = (criterion: Criterion) => values(outcomes, criterion, TRIALS, startsS);
  const found = criteria.map((criterion) => ({
    title: `${subject(criterion)}${criterion.informative ? " (for comparison)" : ""}`,
    unit: criterion.unit as Unit,
    values: of(criterion),
    criterion,
  }));
  if (found.length > 0) return found;
  const flows = outcomes.flows["flow"];
  const first = flows && "words" in flows ? (flows.words[0] ?? "") : "";
  const made = completionOf(first);
  return [{ title: subject(made), unit: "s", values: of(made), criterion: null }];
}

const [ROW, RADIUS, HEIGHT, HEAD] = [7, 3, 108, 32];
/** Words on the marks stand below each other where the marks are closer than this. */
const WORDS = 90;

/** Dots beside each other where there is room, and else above each other. */
function stacked(known: { x: number; trial: number }[], width: number): { x: number; y: number; trial: number }[] {
  const rows: number[] = [];
  const most = Math.floor((HEIGHT - 20 - HEAD) / ROW);
  const sorted = [...known].sort((a, b) => a.x - b.x);
  return sorted.map(({ x, trial }) => {
    let row = rows.findIndex((last) => x - last >= 2 * RADIUS + 1);
    if (row < 0) row = rows.length < most ? rows.length : trial % most;
    rows[row] = x;
    return { x: Math.min(Math.max(x, RADIUS), width - RADIUS), y: HEIGHT - 18 - RADIUS - row * ROW, trial };
  });
}

export function Strip() {
  const box = useRef<HTMLDivElement>(null);
  const [width, scale] = [useSignal(600), useSignal(1)];
  const chosen = useSignal(0);
  useEffect(() => {
    const element = box.current;
    if (!element) return;
    const seen = new ResizeObserver(([entry]) => {
      scale.value = textScale();
      width.value = Math.max(200, Math.floor((entry?.contentRect.width ?? 600) / scale.value));
    });
    seen.observe(element);
    return () => seen.disconnect();
  }, []);

  const shown = many.value;
  const all = shown ? choices(shown.outcomes, shown.checked) : [];
  const one = all[Math.min(chosen.value, all.length - 1)];
  return (
    <section class="strip" aria-label={`distribution of ${TRIALS} trials`}>
      <header>
        <h2>{TRIALS} trials</h2>
        {all.length > 1 && (
          <select aria-label="what the strip shows" value={chosen.value} onChange={(event) => (chosen.value = Number(event.currentTarget.value))}>
            {all.map((choice, index) => (
              <option key={index} value={index}>
                {choice.title}: {text(choice.criterion?.at_most ?? choice.criterion?.at_least, choice.unit)}
              </option>
            ))}
          </select>
        )}
        <span class="count" role="status">
          {finished.value === null ? (one ? summary(one) : "") : `${finished.value} of ${TRIALS} finished`}
        </span>
      </header>
      <div ref={box} class={finished.value === null ? "dots" : "dots stale"}>
        {one && shown ? <Dots shown={one} seeds={shown.outcomes.trials["seed"] as BigUint64Array} width={width.value} scale={scale.value} /> : <div style={{ height: `${HEIGHT / 16}rem` }} />}
      </div>
    </section>
  );
}

function summary({ values: all, criterion, unit }: Distribution): string {
  const words = `median ${text(quantile(all, 0.5), unit)}, 95th percentile ${text(quantile(all, 0.95), unit)}`;
  if (!criterion) return words;
  const { n, failures, answer } = judge(all, criterion);
  return `${answer}: ${n - failures} of ${n} meet the target; ${words}`;
}

function Dots({ shown, seeds, width, scale }: { shown: Distribution; seeds: BigUint64Array; width: number; scale: number }) {
  const { criterion, unit } = shown;
  const bound = criterion ? (criterion.at_most ?? criterion.at_least) : null;
  const floor = criterion?.floor ?? null;
  const known = [...shown.values].filter(Number.isFinite);
  const marks = [bound, floor].filter((mark) => mark !== null);
  const [least, most] = [Math.min(...known, ...marks), Math.max(...known, ...marks)];
  const span = most - least || Math.abs(most) || 1;
  const x = (value: number) => 10 + ((value - least + span * 0.03) / (span * 1.06)) * (width - 20);
  const dots = stacked([...shown.values].flatMap((value, trial) => (Number.isFinite(value) ? [{ x: x(value), trial }] : [])), width);
  const digits = [3, 4, 5, 6].find((count) => text(least, unit, count) !== text(most, unit, count)) ?? 3;
  const isTight = floor !== null && bound !== null && Math.abs(x(bound) - x(floor)) < WORDS;
  const missing = shown.values.length - known.length;
  const focus = Math.max(0, dots.findIndex((dot) => seeds[dot.trial] === seed.value));
  const label = (trial: number) => `trial with seed ${seeds[trial]}: ${text(shown.values[trial], unit, 4)}`;
  const open = (trial: number) => void change({}, seeds[trial] as bigint);
  const onKey = (event: KeyboardEvent) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    const next = step === undefined ? undefined : dots[Math.min(Math.max(focus + step, 0), dots.length - 1)];
    if (!next) return;
    event.preventDefault();
    const svg = event.currentTarget as SVGElement;
    open(next.trial);
    requestAnimationFrame(() => svg.querySelector<SVGElement>(`[data-trial="${next.trial}"]`)?.focus());
  };
  return (
    <>
      <svg width={width * scale} height={HEIGHT * scale} viewBox={`0 0 ${width} ${HEIGHT}`} role="group" aria-label="one dot for each trial; arrow keys go to the next" onKeyDown={onKey}>
        <line class="base" x1={0} x2={width} y1={HEIGHT - 17} y2={HEIGHT - 17} />
        {floor !== null && (
          <g class="floor">
            <line x1={x(floor)} x2={x(floor)} y1={4} y2={HEIGHT - 15} />
            <text x={x(floor) + 4} y={12}>
              floor {text(floor, "s")}
            </text>
          </g>
        )}
        {bound !== null && (
          <g class="target">
            <line x1={x(bound)} x2={x(bound)} y1={4} y2={HEIGHT - 15} />
            <text x={x(bound) + (x(bound) > width - 110 ? -4 : 4)} y={isTight ? 26 : 12} text-anchor={x(bound) > width - 110 ? "end" : "start"}>
              target {text(bound, unit)}
            </text>
          </g>
        )}
        {dots.map((dot, index) => {
          const met = !criterion || meets(shown.values[dot.trial] as number, criterion);
          const now = seeds[dot.trial] === seed.value;
          const look = `${met ? "met" : "missed"} ${now ? "now" : ""}`;
          return (
            <g
              key={dot.trial}
              class={`dot ${look}`}
              data-trial={dot.trial}
              role="button"
              tabindex={index === focus ? 0 : -1}
              aria-label={label(dot.trial)}
              aria-pressed={now}
              onClick={() => open(dot.trial)}
              onKeyDown={(event) => {
                if (event.key === "Enter" || event.key === " ") {
                  event.preventDefault();
                  open(dot.trial);
                }
              }}
            >
              <title>{label(dot.trial)}</title>
              {met ? <circle cx={dot.x} cy={dot.y} r={now ? RADIUS + 2 : RADIUS} /> : <path d={`M${dot.x - 3} ${dot.y - 3}l6 6m0-6l-6 6`} />}
              <rect x={dot.x - 5} y={dot.y - 5} width={10} height={10} class="reach" />
            </g>
          );
        })}
        {known.length > 0 && (
          <>
            <text x={x(least)} y={HEIGHT - 4} text-anchor={x(least) < 24 ? "start" : "middle"}>
              {text(least, unit, digits)}
            </text>
            <text x={x(most)} y={HEIGHT - 4} text-anchor={x(most) > width - 24 ? "end" : "middle"}>
              {text(most, unit, digits)}
            </text>
          </>
        )}
      </svg>
      {missing > 0 && <p class="missing">{missing} trials have no such number: their transfer did not end.</p>}
    </>
  );
}

