// What can be taken away: the scenario, the series as a table, and the pictures.

import { AXIS, drawAxis, drawPanel, drawRibbon } from "../chart/draw";
import { CanvasPen, type Pen, SvgPen } from "../chart/pen";
import { LIGHT } from "../chart/theme";
import { view } from "../chart/view";
import { FONT } from "../chart/chart";
import type { Setup, Table, Trace } from "../engine/engine";
import type { QlogForm } from "../engine/calls";
import { qlog } from "../engine/qlog";
import { find, local } from "../scenario/library";
import { csv } from "../trial/panels";
import { used } from "../own/files";
import { about, type Run } from "./lab";

const [WIDTH, PANEL, RIBBON, TITLE, GAP] = [900, 130, 24, 20, 8];

/** Offers a file to the reader. */
export function save(name: string, content: Blob): void {
  const address = URL.createObjectURL(content);
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

/** Letters, digits, - and _. */
function stem(origin: string): string {
  return origin.replace(/^.*\//, "").replace(/\.toml$/, "").replaceAll(/[^\w-]+/g, "-").slice(0, 60) || "mine";
}

/** A name for a file of this run. */
export function fileName(run: Run, ending: string): string {
  return `${stem(run.setup.origin)}-${run.trial.seed}.${ending}`;
}

/** What the command line calls a scenario, and whether it finds it there: in its suites, or in the folder of the lab. */
export interface Source {
  word: string;
  found: "suite" | "folder" | null;
}

/** A scenario that is found nowhere has to be saved first, under the name that the command says. */
export function sourceOf({ origin, text }: Setup): Source {
  if (find(origin)?.text === text) return { word: origin, found: "suite" };
  if (local.value.some((own) => own.name === origin && own.text === text)) return { word: `./${origin}`, found: "folder" };
  return { word: `./${scenarioName(origin)}`, found: null };
}

/** The name under which a scenario is saved. */
export function scenarioName(origin: string): string {
  return `${stem(origin)}.toml`;
}

/** The scenario as it ran. */
export function tomlFile(run: Run): string {
  return run.checked.toml;
}

/** The samples of flows and links, as CSV. */
export function csvFile(run: Run, name: keyof Trace): string {
  return csv((run.trial.trace?.[name] ?? {}) as Table);
}

/** The trace as qlog, of the current drafts or in the older form that qvis reads. */
export async function qlogFile(run: Run, form: QlogForm): Promise<string> {
  const { trace } = run.trial;
  if (!trace) throw new Error("this trial has no trace");
  return qlog(trace, form);
}

/** Shell quotes, if a word needs them. */
function quoted(word: string): string {
  return /^[\w./:=,@%+-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

/** The command line that runs the same trial; `null` if it has controllers that only a page runs. */
export function command({ setup, trial }: Run): string | null {
  if (Object.keys(used(setup)).length > 0) return null;
  const words = ["thalweg", "run", sourceOf(setup).word];
  for (const [flow, controller] of Object.entries(setup.controllers)) words.push("--controller", `${flow}=${controller}`);
  for (const [key, value] of Object.entries(setup.sets)) words.push("--set", `${key}=${value}`);
  words.push("--seed", String(trial.seed));
  return words.map(quoted).join(" ");
}

function layout(run: Run): { height: number; draw: (pen: Pen, at: (x: number, y: number, draw: () => void) => void, measure: (words: string) => number) => void } {
  const { ribbons, panels } = run.picture;
  const height = 44 + ribbons.length * (RIBBON + TITLE) + panels.length * (PANEL + TITLE + GAP) + AXIS;
  const window = view.value;
  return {
    height,
    draw(pen, at, measure) {
      let y = 6;
      at(0, y, () => {
        pen.text(run.checked.title, 10, 8, LIGHT.text, "left");
        pen.text(`seed ${run.trial.seed}, trace hash ${run.trial.hash}, Thalweg ${about.value?.version ?? ""}`, 10, 24, LIGHT.label, "left");
      });
      y += 38;
      for (const ribbon of ribbons) {
        at(0, y, () => pen.text(`State of ${ribbon.flow}`, 10, TITLE / 2, LIGHT.text, "left"));
        at(0, y + TITLE, () => drawRibbon(pen, ribbon, { width: WIDTH, height: RIBBON - 4 }, window, measure));
        y += RIBBON + TITLE;
      }
      for (const panel of panels) {
        at(0, y, () => {
          pen.text(panel.title, 10, TITLE / 2, LIGHT.text, "left");
          let x = WIDTH - 12;
          for (const line of [...panel.lines].reverse()) {
            pen.text(line.name, x, TITLE / 2, LIGHT.hues[line.hue], "right");
            x -= measure(line.name) + 14;
          }
        });
        at(0, y + TITLE, () => drawPanel(pen, panel, { width: WIDTH, height: PANEL }, window, LIGHT));
        y += PANEL + TITLE + GAP;
      }
      at(0, y, () => drawAxis(pen, { width: WIDTH, height: AXIS }, window, LIGHT));
    },
  };
}

function measurer(): (words: string) => number {
  const context = document.createElement("canvas").getContext("2d");
  if (!context) return (words) => 6 * words.length;
  context.font = FONT;
  return (words) => context.measureText(words).width;
}

/** The part that is seen as SVG, on white. */
export function svgFile(run: Run): string {
  const { height, draw } = layout(run);
  const pen = new SvgPen();
  draw(pen, (x, y, inner) => pen.group(x, y, inner), measurer());
  return pen.document(WIDTH, height, LIGHT.background);
}

/** The same as PNG, with two dots for each pixel. */
export async function pngFile(run: Run): Promise<Blob> {
  const { height, draw } = layout(run);
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [2 * WIDTH, 2 * height];
  const context = canvas.getContext("2d");
  if (!context) throw new Error("this browser draws no canvas");
  context.scale(2, 2);
  context.fillStyle = LIGHT.background;
  context.fillRect(0, 0, WIDTH, height);
  const pen = new CanvasPen(context, FONT);
  draw(
    pen,
    (x, y, inner) => {
      context.save();
      context.translate(x, y);
      inner();
      context.restore();
    },
    measurer(),
  );
  const blob = await new Promise<Blob | null>((resolve) => canvas.toBlob(resolve, "image/png"));
  if (!blob) throw new Error(`a picture of ${2 * height} pixels is too large`);
  return blob;
}
