import { KEYS } from "../../../model/fact-tables.ts";
import { digestAfter } from "../../../model/packed.ts";
import { knownExecutables } from "../../shared/names/executables.ts";
import { SOURCE } from "../adapter.ts";
import { KINDS } from "../line-kinds.ts";
import { MODULE_BASE64 } from "./module.ts";
import { NAMES } from "./names.ts";

/** What `assembly/index.ts` exports: places are places in `memory`, texts go by number, -1 is none. */
export interface Kernel {
  readonly memory: { readonly buffer: ArrayBuffer };
  take(bytes: number): number;
  textOf(at: number, length: number): number;
  addName(which: number, at: number, length: number, number: number): void;
  setDigest(kind: number, high: number, low: number): void;
  session(): void;
  file(agent: number, timeMs: number): void;
  /** @returns `DONE`, all is read; `HARD`, a line is for somebody else; `NEWS`, one told of the session; or something else */
  run(from: number, end: number): number;
  readonly DONE: Constant;
  readonly HARD: Constant;
  readonly NEWS: Constant;
  nextAt(): number;
  lineStartAt(): number;
  lineEndAt(): number;
  linesRead(): number;
  timeMs(): number;
  firstMs(): number;
  inputMs(): number;
  promptText(): number;
  promptBefore(): number;
  factsAt(): number;
  factsLength(): number;
  /** Nine whole numbers of the last answer that had figures: its id, its request, its tokens. Without one the first is -1. */
  answerAt(): number;
  requests(): number;
  requestText(n: number): number;
  requestMs(n: number): number;
  saw(ms: number): void;
  setState(timeMs: number, inputMs: number, prompt: number, isTold: boolean): void;
  putAnswer(...values: readonly number[]): number;
  putUse(call: number, name: number, program: number, prompt: number, agent: number, timeMs: number): number;
  putResult(...values: readonly number[]): number;
  putPrompt(line: number, origin: number, length: number, prompt: number, timeMs: number): number;
  textsAt(): number;
  textRows(): number;
  textBytesAt(): number;
  textBytes(): number;
  callsAt(): number;
  callRows(): number;
  useRows(): number;
  resultRows(): number;
  promptRows(): number;
  ownedAt(): number;
  ownedRows(): number;
  /** Lists what the rows name, for the two tables below. */
  listNames(): void;
  namesAt(): number;
  nameRows(): number;
  programsAt(): number;
  programRows(): number;
  /** Writes the columns, for the two tables below. */
  encode(): void;
  columnsAt(): number;
  columnRows(): number;
  bodyAt(): number;
  bodyBytes(): number;
  /** Of the records in them; infinite where there are none. */
  firstRecordMs(): number;
  lastRecordMs(): number;
  /** @returns 0: it cannot be summed */
  join(): number;
  joinSubagent(agent: number, timeMs: number): void;
  joinEnd(prompt: number, timeMs: number): void;
  /** Adds up what is joined, for the tables below. */
  addUp(): void;
  figuresAt(): number;
  notedAt(): number;
  notedRows(): number;
  usageAt(): number;
  usageRows(): number;
  toolUsageAt(): number;
  toolUsageRows(): number;
  turnUsageAt(): number;
  turnUsageRows(): number;
}

interface Constant {
  readonly value: number;
}

/** Programs by the numbers that uses have of them. */
export const PROGRAMS: readonly string[] = knownExecutables();

/** @returns `undefined` where this engine cannot run it: transcripts are read the long way there */
export function startKernel(): Kernel | undefined {
  let kernel: Kernel;
  try {
    const module = new WebAssembly.Module(Buffer.from(MODULE_BASE64, "base64"));
    const abort = (): never => {
      throw new Error("reading a transcript at once went wrong");
    };
    kernel = new WebAssembly.Instance(module, { env: { abort } }).exports as unknown as Kernel;
  } catch {
    return undefined;
  }
  const scratch = kernel.take(MAX_NAME);
  const addAll = (which: number, names: readonly string[]): void => {
    for (const [i, name] of names.entries()) {
      Buffer.from(kernel.memory.buffer).write(name, scratch, "latin1");
      kernel.addName(which, scratch, name.length, i + 1);
    }
  };
  addAll(0, [...NAMES, ...SILENT]);
  addAll(1, PROGRAMS);
  for (const [i, key] of [KEYS.call, KEYS.use, KEYS.result, KEYS.prompt].entries()) {
    kernel.setDigest(i, ...digestAfter(SOURCE, key));
  }
  return kernel;
}

// --- internal ---

const MAX_NAME = 64;
/** Kinds of lines that tell nothing. */
const SILENT = KINDS.filter((kind) => !NAMES.includes(kind));
