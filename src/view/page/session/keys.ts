export type Key =
  | "down"
  | "up"
  | "page-down"
  | "page-up"
  | "first"
  | "last"
  | "open"
  | "close"
  | "toggle-details"
  | "close-details"
  | "next-error"
  | "previous-error"
  | "zoom-in"
  | "zoom-out"
  | "zoom-all"
  | "zoom-rows"
  | "zoom-span"
  | "pan-left"
  | "pan-right";

/** The action of a key in the waterfall; `undefined`: the browser handles it. */
export function keyOf({ key, shiftKey, ctrlKey, metaKey, altKey }: KeyboardEvent): Key | undefined {
  if (ctrlKey || metaKey || altKey) return undefined;
  if (shiftKey && key === "ArrowLeft") return "pan-left";
  if (shiftKey && key === "ArrowRight") return "pan-right";
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

const KEYS: ReadonlyMap<string, Key> = new Map([
  ["ArrowDown", "down"],
  ["ArrowUp", "up"],
  ["PageDown", "page-down"],
  ["PageUp", "page-up"],
  ["Home", "first"],
  ["End", "last"],
  ["ArrowRight", "open"],
  ["ArrowLeft", "close"],
  ["Enter", "toggle-details"],
  [" ", "toggle-details"],
  ["Escape", "close-details"],
  ["n", "next-error"],
  ["N", "previous-error"],
  ["+", "zoom-in"],
  ["=", "zoom-in"],
  ["-", "zoom-out"],
  ["0", "zoom-all"],
  ["z", "zoom-span"],
  ["f", "zoom-rows"],
]);
