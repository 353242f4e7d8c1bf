import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { checkLine } from "./check-line.ts";

/** What a case requires of an implementation. The kit's README describes each kind for implementers. */
export const KIT_KINDS = ["convert", "validate", "session", "discover"] as const;
export type KitKind = (typeof KIT_KINDS)[number];

/** One vector: an input on stdin, and what stdout must be. */
export interface KitCase {
  readonly kind: KitKind;
  /** `<file>:<name>`. */
  readonly name: string;
  /** The conformance level that it belongs to. */
  readonly level: 1 | 2 | 3;
  readonly stdin: string;
  /** For `convert`: the agent, and the event's name if the payload does not contain it. */
  readonly source?: string;
  readonly event?: string;
  readonly expected: unknown;
}

/** How an implementation answered. */
export interface KitAnswer {
  readonly stdout: string;
  /** Not 0: it refused. `undefined`: it could not be run or took too long. */
  readonly code: number | undefined;
  /** The last line on stderr, shown if it refused. */
  readonly complaint?: string;
}

export type Implementation = (kitCase: KitCase) => Promise<KitAnswer>;

/** Reads the vectors. @param folder the kit's folder */
export async function readKit(folder: string): Promise<readonly KitCase[]> {
  const native = (await readdir(join(folder, "native"))).filter((name) => name.endsWith(".jsonl")).sort();
  const files: readonly (readonly [KitKind, string])[] = [
    ...native.map((name) => ["convert", `native/${name}`] as const),
    ["validate", "envelopes.jsonl"],
    ["session", "sessions.jsonl"],
    ["discover", "registrations.jsonl"],
  ];
  const cases: KitCase[] = [];
  for (const [kind, file] of files) {
    for (const line of (await readFile(join(folder, file), "utf8")).split("\n")) {
      if (line !== "") cases.push(caseOf(kind, file, JSON.parse(line) as Vector));
    }
  }
  return cases;
}

/** @returns why an answer is wrong; `undefined`: it is right */
export function faultIn({ kind, expected }: KitCase, answer: KitAnswer): string | undefined {
  const { stdout, code, complaint } = answer;
  const why = complaint === undefined ? "" : `: ${complaint}`;
  if (code === undefined) return `it did not run, or took too long${why}`;
  // How it refuses a file that is no registration does not matter
  if (kind === "discover" && expected === null) return code !== 0 || stdout.trim() === "" ? undefined : "not refused";
  if (code !== 0) return `exit code ${code}${why}`;
  const values = valuesOf(stdout);
  if (values === undefined) return "stdout is not one JSON value per line";
  if (kind === "convert") return envelopesFault(values, expected as readonly Fields[], stdout);
  return isDeepStrictEqual(values, [expected]) ? undefined : `expected ${JSON.stringify(expected)}`;
}

// --- internal ---

type Fields = Readonly<Record<string, unknown>>;

interface Vector {
  readonly name: string;
  readonly level?: 1 | 2 | 3;
  readonly source?: string;
  readonly event?: string;
  /** Parsed JSON, or the text itself if it is not JSON. */
  readonly input?: unknown;
  readonly text?: string;
  readonly expected: unknown;
}

const LEVELS = { convert: 2, validate: 1, session: 2, discover: 3 } as const satisfies Record<KitKind, number>;

const caseOf = (kind: KitKind, file: string, vector: Vector): KitCase => ({
  kind,
  name: `${file}:${vector.name}`,
  level: vector.level ?? LEVELS[kind],
  stdin: vector.text ?? JSON.stringify(vector.input),
  ...(vector.source !== undefined && { source: vector.source }),
  ...(vector.event !== undefined && { event: vector.event }),
  expected: vector.expected,
});

function valuesOf(stdout: string): readonly unknown[] | undefined {
  try {
    return stdout
      .split("\n")
      .filter((line) => line.trim() !== "")
      .map((line) => JSON.parse(line) as unknown);
  } catch {
    return undefined;
  }
}

/** `file.write` is optional and may come in addition; everything else must be there, in order, and nothing more. */
function envelopesFault(values: readonly unknown[], expected: readonly Fields[], stdout: string): string | undefined {
  for (const line of stdout.split("\n")) {
    if (line.trim() === "") continue;
    const { texts, notes } = checkLine(line);
    if (texts.length === 0) return notes.find(({ level }) => level === "error")?.text ?? "not an envelope";
  }
  const types = expected.map((envelope) => String(envelope["type"]));
  const answered = values.filter(
    (envelope) => (envelope as Fields)["type"] !== "file.write" || types.includes("file.write"),
  );
  if (answered.length !== expected.length) {
    return `expected ${types.length === 0 ? "no envelope" : types.join(", ")}; got ${answered.length} envelopes`;
  }
  for (const [index, envelope] of expected.entries()) {
    const missing = differenceIn(answered[index], envelope, "");
    if (missing !== undefined) return missing;
  }
  return undefined;
}

/** The first member of `expected` that `answered` has with another value, or not at all; members of `data` are never required. */
function differenceIn(answered: unknown, expected: unknown, path: string): string | undefined {
  if (answered === undefined && path.startsWith("data")) return undefined;
  if (typeof expected !== "object" || expected === null) {
    return Object.is(answered, expected) ? undefined : `${path} is not ${JSON.stringify(expected)}`;
  }
  for (const [name, value] of Object.entries(expected)) {
    const found = differenceIn((answered as Fields | undefined)?.[name], value, path === "" ? name : `${path}.${name}`);
    if (found !== undefined) return found;
  }
  return undefined;
}
