export type Key =
  | "down"
  | "up"
  | "page-down"
  | "page-up"
  | "first"
  | "last"
  | "open"
  | "close"
  | "choose"
  | "leave"
  | "next-error"
  | "previous-error"
  | "zoom-in"
  | "zoom-out"
  | "zoom-all"
  | "zoom-rows"
  | "zoom-span"
  | "pan-left"
  | "pan-right";

/** The meaning of a key in the waterfall; `undefined`: left to the browser. */
export function keyOf({ key, shiftKey, ctrlKey, metaKey, altKey }: KeyboardEvent): Key | undefined {
  if (ctrlKey || metaKey || altKey) return undefined;
  if (shiftKey && key === "ArrowLeft") return "pan-left";
  if (shiftKey && key === "ArrowRight") return "pan-right";
  return KEYS.get(key);
}

/** For the help below the toolbar. */
export const KEY_HELP: readonly (readonly [string, string])[] = [
  ["↑ ↓", "row by row; Home, End, Page Up and Page Down in larger steps"],
  ["← →", "collapse and expand, or to the span around and the first one inside"],
  ["Enter", "details of the span; Escape closes them"],
  ["n, N", "next and previous span that failed"],
  ["+ −", "zoom in and out; z to the span, f to the rows in view, 0 shows everything"],
  ["Shift ← →", "earlier and later"],
  ["Ctrl + wheel", "zoom where the pointer is; Shift + wheel moves"],
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
  ["Enter", "choose"],
  [" ", "choose"],
  ["Escape", "leave"],
  ["n", "next-error"],
  ["N", "previous-error"],
  ["+", "zoom-in"],
  ["=", "zoom-in"],
  ["-", "zoom-out"],
  ["0", "zoom-all"],
  ["z", "zoom-span"],
  ["f", "zoom-rows"],
]);
