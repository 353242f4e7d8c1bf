// Which names a session's rows have: of models, reasons to end and tools, and of programs. Each stands here once.
import { SLOTS } from "./names";
import { calls, NONE, Table, TEXT_TAKEN, texts, uses } from "./tables";

/** Numbers of texts. */
export const names = new Table(4);
/** Numbers of programs. */
export const programs = new Table(4);

/** By program: whether it stands there. There are fewer than slots for names. */
const isListed = new StaticArray<bool>(SLOTS);

export function listNames(): void {
  names.rows = programs.rows = 0;
  for (let n = 0; n < texts.rows; n++) store<i32>(texts.row(n), 0, TEXT_TAKEN);
  for (let n = 0; n < calls.rows; n++) {
    const row = calls.row(n);
    listName(load<i32>(row, 8));
    listName(load<i32>(row, 12));
    listName(load<i32>(row, 16));
  }
  isListed.fill(false);
  for (let n = 0; n < uses.rows; n++) {
    const row = uses.row(n);
    listName(load<i32>(row, 4));
    listProgram(load<i32>(row, 8));
  }
}

function listName(text: i32): void {
  if (text === NONE || load<i32>(texts.row(text), TEXT_TAKEN) !== 0) return;
  store<i32>(texts.row(text), 1, TEXT_TAKEN);
  store<i32>(names.add(), text);
}

function listProgram(program: i32): void {
  if (program === NONE || isListed[program]) return;
  isListed[program] = true;
  store<i32>(programs.add(), program);
}
