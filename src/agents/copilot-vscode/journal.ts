// microsoft/vscode, src/vs/workbench/contrib/chat/common/model/objectMutationLog.ts, read 2026-11-26
import { asArray, asObject, type Fields, parsedObject } from "../shared/payload/json.ts";
import { splitLine } from "../shared/transcript/spliced.ts";

/**
 * The object that a journal describes: its first line is the whole object, each further one a change. A change of something that a
 * damaged line lacks is left out.
 *
 * @returns `undefined` if no line is a whole object; and the number of pieces of complete lines that are no JSON
 */
export function replay(text: string): { readonly object: Fields | undefined; readonly unreadable: number } {
  let state: unknown;
  let unreadable = 0;
  for (const line of text.slice(0, text.lastIndexOf("\n") + 1).split("\n")) {
    if (line === "") continue;
    const whole = parsedObject(line);
    const { records, torn } = whole === undefined ? splitLine(Buffer.from(line)) : { records: [], torn: 0 };
    unreadable += torn;
    for (const entry of whole === undefined ? records.map(parsedObject) : [whole]) {
      if (entry?.["kind"] === INITIAL) state = entry["v"];
      else if (entry !== undefined) change(state, entry);
    }
  }
  return { object: asObject(state), unreadable };
}

// --- internal ---

const INITIAL = 0;
const SET = 1;
const PUSH = 2;
const DELETE = 3;

/** Applies one change, if it has a place in the object. */
function change(state: unknown, { kind, k, v, i }: Fields): void {
  const path = asArray(k);
  const last = path.at(-1);
  const parent = path.slice(0, -1).reduce<unknown>((value, step) => memberOf(value, step), state);
  if (typeof last !== "string" && typeof last !== "number") return;
  if (typeof parent !== "object" || parent === null || last === "__proto__") return;
  // A place far behind the end would make a list of any length
  if (Array.isArray(parent) && !(typeof last === "number" && last >= 0 && last <= parent.length)) return;
  switch (kind) {
    case SET:
      Reflect.set(parent, last, v);
      return;
    case DELETE:
      Reflect.set(parent, last, undefined);
      return;
    case PUSH: {
      const known = memberOf(parent, last);
      const list: unknown[] = Array.isArray(known) ? known : [];
      if (typeof i === "number") list.length = Math.max(0, Math.min(list.length, Math.trunc(i)));
      list.push(...asArray(v));
      Reflect.set(parent, last, list);
    }
  }
}

const memberOf = (value: unknown, step: unknown): unknown =>
  typeof value === "object" && value !== null && (typeof step === "string" || typeof step === "number")
    ? Object.hasOwn(value, step)
      ? Reflect.get(value, step)
      : undefined
    : undefined;
