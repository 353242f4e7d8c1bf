import type { Actions } from "./actions.ts";

/** What a key does in the waterfall; `undefined`: the browser handles it. */
export function actionOf({ key, shiftKey, ctrlKey, metaKey, altKey }: KeyboardEvent): keyof Actions | undefined {
  if (ctrlKey || metaKey || altKey) return undefined;
  if (shiftKey && key === "ArrowLeft") return "moveLeft";
  if (shiftKey && key === "ArrowRight") return "moveRight";
  return KEYS.get(key);
}

/** Keys and what they do, for the help in the toolbar. */
export const KEY_HELP: readonly (readonly [string, string])[] = [
  ["↑ ↓", "move row by row; Home, End, Page Up and Page Down in larger steps"],
  ["← →", "collapse and expand, or go to the parent or first child"],
  ["Enter", "show or hide details; Escape hides them"],
  ["n, N", "go to the next or previous failed span"],
  ["+ −", "zoom in and out; z fits the span, f the visible rows, 0 the session"],
  ["Shift ← →", "move the view along the time axis"],
  ["Ctrl + wheel", "zoom at the pointer; Shift + wheel moves the view"],
];

// --- internal ---

const KEYS: ReadonlyMap<string, keyof Actions> = new Map([
  ["ArrowDown", "down"],
  ["ArrowUp", "up"],
  ["PageDown", "pageDown"],
  ["PageUp", "pageUp"],
  ["Home", "first"],
  ["End", "last"],
  ["ArrowRight", "open"],
  ["ArrowLeft", "close"],
  ["Enter", "toggleDetails"],
  [" ", "toggleDetails"],
  ["Escape", "closeDetails"],
  ["n", "nextFailed"],
  ["N", "previousFailed"],
  ["+", "zoomIn"],
  ["=", "zoomIn"],
  ["-", "zoomOut"],
  ["0", "zoomToAll"],
  ["z", "zoomToSpan"],
  ["f", "zoomToRows"],
]);
