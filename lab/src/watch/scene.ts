// Draws the packets of a hop at a moment: the queue, the link with what travels, and the way back.
//
// Along the queue, a packet is as long as its bytes; along the link, as long as its transmission takes, so a busy link has no gaps.
// Shapes tell what happens, not colours alone: a cap on top is a mark, a cross a drop, a low block a packet without data.

import type { Hue } from "../words/looks";
import type { Size } from "../chart/draw";
import { FONT } from "../chart/chart";
import type { Theme } from "../chart/theme";
import { type Lane, near, whereabouts } from "./lane";

export interface Scene {
  /** Where the data go, and the other link of the hop. */
  forward: Lane;
  back: Lane;
  /** The hue of each flow. */
  hues: Hue[];
  /** Bytes for which there is room in the picture, for which the queue is drawn, and whether it has room for more than that. */
  scale: number;
  drawn: number;
  isOpen: boolean;
  /** Names of the left and the right end. */
  ends: [string, string];
}

/** How a moment is shown. */
export interface SceneMoment {
  time: number;
  /** How long a dropped packet is seen, in seconds of the trial. */
  fade: number;
  /** Whether it falls meanwhile. */
  moves: boolean;
}

export const HEIGHT = 196;
const [PAD, END, GAP] = [6, 8, 5];
const [FORWARD, BACK] = [
  { top: 34, height: 40 },
  { top: 138, height: 22 },
];
/** A packet of at most this many bytes has no data: an acknowledgement. */
const SMALL = 200;
/** The shares of the width that the two queues have. */
const [QUEUE, QUEUE_BACK] = [0.42, 0.14];

interface Row {
  lane: Lane;
  top: number;
  height: number;
  /** Where the head of the queue is, where its room ends, and where the link ends; the last may lie to the left. */
  head: number;
  tail: number;
  far: number;
  /** Bytes for which the queue is drawn. */
  drawn: number;
}

export function drawScene(context: CanvasRenderingContext2D, { width }: Size, theme: Theme, scene: Scene, shown: SceneMoment): void {
  const [left, right] = [PAD + END, width - PAD - END];
  const span = right - left;
  const head = left + QUEUE * span;
  const tail = head - (head - left - GAP) * (scene.drawn / scene.scale);
  const forward: Row = { lane: scene.forward, ...FORWARD, head, tail, far: right - GAP, drawn: scene.drawn };
  const headBack = right - QUEUE_BACK * span;
  // What waits on the way back is drawn to the same scale.
  const drawnBack = (scene.scale * QUEUE_BACK) / QUEUE;
  const back: Row = { lane: scene.back, ...BACK, head: headBack, tail: right - GAP, far: left + GAP, drawn: drawnBack };
  frame(context, theme, scene, forward, back, width);
  for (const row of [forward, back]) {
    packets(context, theme, scene.hues, row, shown.time);
    drops(context, theme, scene.hues, row, shown);
  }
}

function frame(context: CanvasRenderingContext2D, theme: Theme, scene: Scene, forward: Row, back: Row, width: number): void {
  context.fillStyle = theme.axis;
  for (const x of [PAD, width - PAD - END]) context.fillRect(x, forward.top - 6, END, back.top + back.height + 12 - forward.top);
  context.strokeStyle = theme.axis;
  context.lineWidth = 1;
  for (const { head, far, top, height } of [forward, back]) {
    const [a, b] = far > head ? [head + GAP, far] : [far, width - PAD - END - GAP];
    context.fillStyle = theme.grid;
    context.fillRect(a, top + height + 2, b - a, 1);
  }
  // The walls of the queue; its far end is open if there is room beyond what is drawn.
  const { top, height, head, tail } = forward;
  context.beginPath();
  if (scene.isOpen) context.setLineDash([4, 3]);
  context.moveTo(tail - 3, top - 3);
  context.lineTo(head, top - 3);
  context.moveTo(head, top + height + 3);
  context.lineTo(tail - 3, top + height + 3);
  if (!scene.isOpen) context.lineTo(tail - 3, top - 3);
  context.stroke();
  context.setLineDash([]);
  context.font = FONT;
  context.textBaseline = "middle";
  const label = (words: string, x: number, y: number, align: CanvasTextAlign, colour = theme.label) => {
    context.fillStyle = colour;
    context.textAlign = align;
    context.fillText(words, x, y);
  };
  label(scene.ends[0], PAD, 9, "left", theme.text);
  label(scene.ends[1], width - PAD, 9, "right", theme.text);
  label(scene.isOpen ? "queue (there is more room)" : "queue", (head + tail) / 2, 23, "center");
  label("link →", (head + forward.far) / 2, 23, "center");
  label("← way back", (back.head + back.far) / 2, back.top + back.height + 16, "center");
}

function packets(context: CanvasRenderingContext2D, theme: Theme, hues: Hue[], row: Row, time: number): void {
  const { lane, top, height, head, tail, far, drawn } = row;
  const [begin, behind] = near(lane, time);
  const forwards = far > head ? 1 : -1;
  const perByte = (Math.abs(head - tail) - 2) / drawn;
  const block = (index: number, from: number, length: number, foot = top + height, most = height) => {
    const isSmall = (lane.size[index] as number) <= SMALL;
    const tall = isSmall ? most * 0.45 : most;
    const shownLength = Math.max(length >= 4 ? length - 1 : length, Math.min(2, Math.max(length, 1)));
    const x = forwards > 0 ? from - shownLength : from;
    context.fillStyle = theme.hues[hues[lane.flow[index] as number] ?? "grey"];
    context.fillRect(x, foot - tall, shownLength, tall);
    if ((lane.marked[index] as number) <= time) {
      context.fillStyle = theme.text;
      context.fillRect(x, foot - tall - 4, Math.max(shownLength, 2), 3);
    }
  };
  const waiting: number[] = [];
  const held: number[] = [];
  let [isOrdered, last] = [true, -Infinity];
  for (let index = begin; index < behind; index++) {
    const found = whereabouts(lane, index, time);
    if (found === "waiting") {
      const leaves = lane.left[index] as number;
      isOrdered &&= leaves >= last;
      last = leaves;
      waiting.push(index);
    } else if (found === "held") {
      held.push(index);
    } else if (found !== "outside") {
      const [begins, ends] = [lane.left[index] as number, lane.sent[index] as number];
      const travel = (lane.due[index] as number) - ends;
      // Of a packet that gets lost only the transmission is known: it travels as far as one that takes no time.
      const part = (since: number) => (travel > 0 ? Math.min(Math.max((time - since) / travel, 0), 1) : time > since ? 1 : 0);
      const [front, rear] = [part(begins), time < ends || Number.isNaN(ends) ? 0 : part(ends)];
      const [start, long] = [head + forwards * GAP, Math.abs(far - head) - GAP];
      if (Number.isNaN(travel)) block(index, start + forwards * 8, 8);
      else block(index, start + forwards * Math.max(front * long, 2), Math.max((front - rear) * long, 2));
    }
  }
  // What is held back stands below the end of the link, and takes at most a third of it.
  const long = held.reduce((sum, index) => sum + (lane.size[index] as number), 0) * perByte;
  const squeezed = perByte * Math.min(1, Math.abs(far - head) / 3 / Math.max(long, 1));
  let end = far;
  for (const index of held) {
    const length = (lane.size[index] as number) * squeezed;
    block(index, end, length, top + height + 8 + height / 3, height / 3);
    end -= forwards * length;
  }
  if (held.length > 0) {
    context.fillStyle = theme.label;
    context.textAlign = forwards > 0 ? "right" : "left";
    context.fillText(`${held.length} held back`, end - forwards * 6, top + height + 8 + height / 6);
  }
  // By the order in which they leave: not every discipline serves in the order of arrival.
  if (!isOrdered) waiting.sort((a, b) => (lane.left[a] as number) - (lane.left[b] as number));
  let position = head - forwards;
  for (const index of waiting) {
    const length = (lane.size[index] as number) * perByte;
    block(index, position, length);
    position -= forwards * length;
    if (forwards * (position - tail) < 0) break;
  }
}

function drops(context: CanvasRenderingContext2D, theme: Theme, hues: Hue[], row: Row, { time, fade, moves }: SceneMoment): void {
  const { lane, top, height, head, tail, far } = row;
  const [begin, end] = near(lane, time, fade);
  const forwards = far > head ? 1 : -1;
  let count = 0;
  for (let index = begin; index < end && count < 60; index++) {
    const [fate, age] = [lane.fate[index] as string, time - (lane.gone[index] as number)];
    if (fate === "delivered" || !(age >= 0 && age < fade)) continue;
    const origin = fate === "loss" ? head + forwards * 26 : fate === "aqm" ? head - forwards * 10 : tail + forwards * 10;
    const x = origin + forwards * 12 * (count % 6);
    const y = top + height + 10 + (moves ? (age / fade) * 22 : 0) + 2 * Math.floor(count / 6);
    count++;
    context.globalAlpha = moves ? 1 - 0.6 * (age / fade) : 1;
    context.fillStyle = theme.hues[hues[lane.flow[index] as number] ?? "grey"];
    context.fillRect(x - 4, y - 4, 8, 8);
    context.strokeStyle = theme.text;
    context.lineWidth = 2;
    context.beginPath();
    context.moveTo(x - 5, y - 5);
    context.lineTo(x + 5, y + 5);
    context.moveTo(x - 5, y + 5);
    context.lineTo(x + 5, y - 5);
    context.stroke();
    context.globalAlpha = 1;
  }
}
