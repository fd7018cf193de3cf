// The states of controllers, their colours and documents: one list for this page and the figures of the command line.

import { HUES } from "./looks";
import known from "@thalweg/engine/controllers/states.json";

export interface State {
  colour: string;
  meaning: string;
  source: string;
}

const STATES = known as Record<string, State>;
const UNKNOWN: State = { colour: HUES.grey.light, meaning: "a state of this controller", source: "the controller's own" };

export function stateOf(name: string): State {
  return Object.hasOwn(STATES, name) ? (STATES[name] as State) : UNKNOWN;
}
