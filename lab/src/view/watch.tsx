// The packets of a hop at the moment of the cursor: their animation, its buttons, and the same in words. Runs that are compared have
// a picture each, to the same scale.

import { effect } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { textScale } from "../chart/text_scale";
import { onKey, playing, point, view } from "../chart/view";
import { theme } from "../chart/appearance";
import { kept, named, run } from "../state/lab";
import { after } from "../trial/columns";
import { text } from "../words/quantity";
import { beside, chosen, fetching, type PacketPart, partAt, MOST, now, type Place, places, present, watching } from "../watch/part";
import { events } from "../watch/lane";
import { type Moment, moment, room } from "../watch/moment";
import { begin, isCalm, pause, speed, SPEEDS, step } from "../watch/player";
import { drawScene, HEIGHT, type Scene } from "../watch/scene";

/** How long a dropped packet is seen, in seconds of the reader. */
const FADE_S = 0.7;
/** More room than this many times the longest backlog is not drawn: packets would be too short to be seen. */
const MOST_EMPTY = 3;
/** At least this many packets are drawn for. */
const LEAST_DRAWN = 10;

/** Name, picture, cells and events of a run: they stand in line with those of the other one. */
const ROWS = 4;

export interface WatchedMoment {
  link: string;
  time: number;
  ahead: Moment;
  back: Moment;
  /** What happens at this very moment. */
  events: string[];
}

/** What the page shows of the packets of a run, for scripts and for the words below the picture; `null` until they are there. */
export function watched(place: Place = present): WatchedMoment | null {
  const time = now();
  const part = partAt(place, time);
  if (!watching.value || !part) return null;
  const [ahead, back] = [moment(part.forward, part.samples[0], time), moment(part.back, part.samples[1], time)];
  const found = [part.forward, part.back].flatMap((lane) => events(lane, part.flows, time));
  return { link: part.watched, time, ahead, back, events: found };
}

/** Bytes for which a queue wants room in the picture, and those that it has room for itself. */
function wants({ samples: [{ times, capacity, longest }], limits, largestPacket, watched: link }: PacketPart, time: number): [number, number] {
  const last = Math.max(0, after(times, time) - 1);
  const limit = room(limits, link, time, capacity[last] ?? Number.NaN, largestPacket);
  const least = Math.max(longest * 1.05, LEAST_DRAWN * largestPacket);
  return [limit <= MOST_EMPTY * least ? Math.max(limit, largestPacket) : least, limit];
}

function scene(part: PacketPart, time: number): Scene {
  const { forward, back, hues, watched: link } = part;
  const parts = places.value.flatMap((place) => partAt(place, time) ?? []);
  const scale = Math.max(...parts.map((other) => wants(other, time)[0]));
  const limit = wants(part, time)[1];
  const isOpen = !(limit <= scale);
  const drawn = isOpen ? scale : Math.max(limit, part.largestPacket);
  const ends: [string, string] = part.links.indexOf(link) % 2 === 0 ? ["server's side", "client's side"] : ["client's side", "server's side"];
  return { forward, back, hues, scale, drawn, isOpen, ends };
}

function Picture({ place, name }: { place: Place; name: string | null }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  useEffect(() => {
    const element = canvas.current;
    const context = element?.getContext("2d");
    if (!element || !context) return;
    let [width, scale, frame] = [0, 1, 0];
    const draw = () => {
      const time = now();
      const part = partAt(place, time);
      const ratio = (globalThis.devicePixelRatio || 1) * scale;
      const [wide, high] = [Math.round(width * ratio), Math.round(HEIGHT * ratio)];
      if (element.width !== wide || element.height !== high) [element.width, element.height] = [wide, high];
      context.setTransform(ratio, 0, 0, ratio, 0, 0);
      context.clearRect(0, 0, width, HEIGHT);
      if (!part) return;
      const shown = { time, fade: speed.value * FADE_S, moves: !isCalm.value };
      drawScene(context, { width, height: HEIGHT }, theme.value, scene(part, time), shown);
    };
    const later = () => {
      cancelAnimationFrame(frame);
      if (width > 0) frame = requestAnimationFrame(draw);
    };
    const seen = new ResizeObserver(([entry]) => {
      scale = textScale();
      width = Math.floor((entry?.contentRect.width ?? 0) / scale);
      later();
    });
    seen.observe(element);
    const stop = effect(() => {
      void [places.value, present.part.value, beside.part.value, now(), theme.value, speed.value, isCalm.value];
      later();
    });
    return () => {
      stop();
      seen.disconnect();
      cancelAnimationFrame(frame);
    };
  }, []);
  const onKeyDown = (event: KeyboardEvent) => {
    const acts: Record<string, () => void> = { " ": toggle, ".": () => step(1), ",": () => step(-1) };
    const act = event.ctrlKey || event.metaKey || event.altKey ? undefined : acts[event.key];
    if (!act) return void onKey(event);
    act();
    event.preventDefault();
  };
  return (
    <div
      class="scene"
      tabIndex={0}
      role="group"
      aria-label={`packets at the moment of the cursor${name ? ` (${name})` : ""}. Space starts and pauses, full stop and comma move to the next and the previous event, arrow keys move the cursor.`}
      onKeyDown={onKeyDown}
    >
      <canvas ref={canvas} role="img" aria-label="queue, link and way back with their packets" style={{ height: `${HEIGHT / 16}rem` }} />
    </div>
  );
}

function toggle(): void {
  if (playing.value) pause();
  else begin();
}

function count(packets: number): string {
  return packets === 1 ? "1 packet" : `${packets} packets`;
}

function queueWords({ packets, bytes, delay }: Moment): string {
  return `${count(packets)}, ${text(bytes, "bytes")}, ${text(delay, "s")}`;
}

function linkWords({ sending, travelling, held: back }: Moment, lane: PacketPart["forward"]): string {
  const sent = sending === null ? "idle" : `sends packet ${lane.packet[sending]}`;
  return `${sent}, ${travelling} on the way${back > 0 ? `, ${back} held back` : ""}`;
}

/** The moment in words: cells, each with its key and its title, and what happens. */
function wordsOf(place: Place): { cells: [string, string, string][]; happens: string } {
  const [shown, part] = [watched(place), place.part.value];
  if (!shown || !part) {
    return { cells: ["queue", "link", "back", "so-far"].map((key) => [key, "…", fetching.value ? "getting the packets" : "–"]), happens: "" };
  }
  const { ahead, back } = shown;
  const waiting = back.packets > 0 ? `${back.packets} waiting, ` : "";
  const held = back.held > 0 ? `, ${back.held} held back` : "";
  const more = shown.events.length > 3 ? `; and ${shown.events.length - 3} more` : "";
  return {
    cells: [
      ["queue", `queue (${shown.link})`, queueWords(ahead)],
      ["link", "link", linkWords(ahead, part.forward)],
      ["back", "way back", `${waiting}${back.travelling} on the way${held}`],
      ["so-far", "so far", `${ahead.dropped} dropped by the queue, ${ahead.marked} marked`],
    ],
    happens: playing.value ? "" : `${shown.events.slice(0, 3).join("; ")}${more}`,
  };
}

function clock(): string {
  return `${now().toFixed(6)} s`;
}

/** The moment in words, in cells that keep their places. */
function Words({ place }: { place: Place }) {
  const { cells, happens } = wordsOf(place);
  return (
    <>
      <dl class="moment">
        {cells.map(([key, title, words]) => (
          <div key={key}>
            <dt>{title}</dt>
            <dd data-cell={key}>{words}</dd>
          </div>
        ))}
      </dl>
      <p class="now">
        <span class="time">{clock()}</span> {happens}
      </p>
    </>
  );
}

/** The same for who hears the page, once it stands. */
function Status() {
  if (playing.value) return <p class="hidden" role="status" />;
  const said = places.value.map((place) => {
    const [{ cells, happens }, name] = [wordsOf(place), nameOf(place)];
    return `${name ? `${name}: ` : ""}${cells.map(([, title, words]) => `${title}: ${words}`).join("; ")}. ${happens}`;
  });
  return <p class="hidden" role="status">{`${clock()}: ${said.join(" ")}`}</p>;
}

/** How a run is told from the other one; `null` if there is one alone. */
function nameOf(place: Place): string | null {
  const [shown, other] = place === present ? [run.value, kept.value] : [kept.value, run.value];
  if (!shown || !other) return null;
  const { end } = shown.picture;
  const [own, others] = [named(shown, other), named(other, shown)];
  const which = own === others ? ` (${place === beside ? "kept" : "now"})` : "";
  return `${own}${which}${now() > end ? `, over since ${end.toFixed(3)} s` : ""}`;
}

function Controls() {
  const part = present.part.value;
  const { from, until } = view.value;
  const share = Math.round((1000 * (now() - from)) / (until - from));
  return (
    <div class="controls">
      <div class="buttons" role="group" aria-label="move the cursor">
        <button type="button" onClick={() => step(-1)} aria-label="previous event" title="previous event">
          ‹
        </button>
        <button type="button" class="main" onClick={toggle}>
          {playing.value ? "Pause" : "Play"}
        </button>
        <button type="button" onClick={() => step(1)} aria-label="next event" title="next event">
          ›
        </button>
      </div>
      <select aria-label="speed" value={String(speed.value)} onChange={(event) => (speed.value = Number(event.currentTarget.value))}>
        {SPEEDS.map(([factor, name]) => (
          <option key={factor} value={String(factor)} selected={factor === speed.value}>
            {name}
          </option>
        ))}
      </select>
      {part && (
        <select aria-label="link whose queue is seen" value={part.watched} onChange={(event) => (chosen.value = event.currentTarget.value)}>
          {part.links.map((link) => (
            <option key={link} value={link} selected={link === part.watched}>
              {link}
            </option>
          ))}
        </select>
      )}
      <input
        type="range"
        class="scrub"
        min={0}
        max={1000}
        value={Math.min(Math.max(share, 0), 1000)}
        aria-label="moment"
        aria-valuetext={`${now().toFixed(6)} s`}
        onInput={(event) => {
          pause();
          point(from + (Number(event.currentTarget.value) / 1000) * (until - from));
        }}
      />
    </div>
  );
}

function Legend() {
  const parts = places.value.flatMap(({ part }) => part.value ?? []);
  if (parts.length === 0) return null;
  const flows = parts.flatMap(({ flows, hues }) => flows.map((flow, index) => ({ flow, hue: hues[index] ?? "grey" })));
  const known = new Map(flows.map((one) => [`${one.flow} ${one.hue}`, one]));
  const isWhole = parts.every((part) => part.fromS === 0 && part.untilS >= part.run.picture.end);
  const [fromS, untilS] = [Math.max(...parts.map((part) => part.fromS)), Math.min(...parts.map((part) => part.untilS))];
  return (
    <>
      <ul class="legend">
        {[...known].map(([key, { flow, hue }]) => (
          <li key={key}>
            <span class="block" style={{ background: theme.value.hues[hue] }} />
            {flow}
          </li>
        ))}
        <li>
          <span class="block low" />
          low: no data, an acknowledgement
        </li>
        <li>
          <span class="block cap" />
          cap: marked CE
        </li>
        <li>
          <span class="cross" aria-hidden="true">
            ✕
          </span>
          dropped or lost
        </li>
      </ul>
      {!isWhole && (
        <p class="quiet">
          {MOST.toLocaleString("en")} packets are held at a time{parts.length > 1 && " of each run"}, now from {fromS.toFixed(3)} to{" "}
          {untilS.toFixed(3)} s; the part follows the cursor.
        </p>
      )}
    </>
  );
}

function One({ place }: { place: Place }) {
  const name = nameOf(place);
  return (
    <div>
      {name && <h3>{name}</h3>}
      <Picture place={place} name={name && (place === present ? "this run" : "kept run")} />
      <Words place={place} />
    </div>
  );
}

export function Watch() {
  if (!run.value) return null;
  const isOpen = watching.value;
  const turn = () => {
    pause();
    watching.value = !isOpen;
  };
  return (
    <section class="watch" aria-label="packets">
      <header>
        <h2>Packets</h2>
        <button type="button" aria-expanded={isOpen} onClick={turn}>
          {isOpen ? "Close" : "Watch the packets"}
        </button>
      </header>
      {isOpen && (
        <>
          <Controls />
          <div class={places.value.length > 1 ? "two" : ""} style={{ "--rows": ROWS }}>
            {places.value.map((place) => (
              <One key={place === present ? "present" : "beside"} place={place} />
            ))}
          </div>
          <Status />
          <Legend />
        </>
      )}
    </section>
  );
}
