import { spawn } from "node:child_process";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { convertAll } from "#collect/convert/envelopes.ts";
import { payloadsOf } from "#collect/convert/input.ts";
import { discoveryIn, subscribed } from "#config/discovery.ts";
import type { Agent } from "#core/model/agent.ts";
import { ENVELOPE_TYPES, type EnvelopeText } from "#core/model/envelope-types.ts";
import { type Column, table } from "#kit/text/table.ts";
import type { Terminal } from "#kit/text/terminal.ts";
import { checkLine } from "./check-line.ts";
import { validate } from "./conformance.ts";

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
interface KitAnswer {
  readonly stdout: string;
  /** Not 0: it refused. `undefined`: it could not be run or took too long. */
  readonly code: number | undefined;
  /** The last line on stderr, shown if it refused. */
  readonly complaint?: string;
}

type Implementation = (kitCase: KitCase) => Promise<KitAnswer>;

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

/** This program, without a process for each case. */
export const ourImplementation =
  (agents: readonly Agent[], text: EnvelopeText, now: () => number): Implementation =>
  async (kitCase) => {
    const answer = answerTo(kitCase, agents, text, now);
    return answer === undefined ? { stdout: "", code: 1 } : { stdout: answer, code: 0 };
  };

/**
 * A command that a shell runs once for each case: the input on stdin, the answer on stdout. `OPENHOOK_CASE`, `OPENHOOK_SOURCE` and
 * `OPENHOOK_EVENT` name the kind of case, the agent and the event.
 */
export const commandImplementation =
  (command: string, env: Readonly<Record<string, string | undefined>>, cwd: string): Implementation =>
  ({ kind, source = "", event = "", stdin }) =>
    new Promise<KitAnswer>((done) => {
      const child = spawn(command, {
        shell: true,
        cwd,
        env: { ...env, OPENHOOK_CASE: kind, OPENHOOK_SOURCE: source, OPENHOOK_EVENT: event },
        stdio: ["pipe", "pipe", "pipe"],
        timeout: TIME_LIMIT_MS,
        killSignal: "SIGKILL",
      });
      let stdout = "";
      child.stdout.setEncoding("utf8");
      child.stdout.on("data", (chunk: string) => {
        if (stdout.length < MAX_OUTPUT) stdout += chunk;
      });
      let stderr = "";
      child.stderr.setEncoding("utf8");
      child.stderr.on("data", (chunk: string) => {
        stderr = (stderr + chunk).slice(-MAX_COMPLAINT);
      });
      // It may exit without reading its input
      child.stdin.on("error", () => {});
      child.on("error", ({ message }) => done({ stdout: "", code: undefined, complaint: message }));
      child.on("close", (code) => {
        const complaint = stderr.trim().split("\n").at(-1);
        done({ stdout, code: code ?? undefined, ...(complaint && { complaint }) });
      });
      child.stdin.end(stdin);
    });

/** The result of one case. */
interface KitResult {
  readonly kitCase: KitCase;
  /** Absent: the answer was right. */
  readonly fault?: string;
}

/** Runs cases one after another. */
export async function runKit(cases: readonly KitCase[], implementation: Implementation): Promise<readonly KitResult[]> {
  const results: KitResult[] = [];
  for (const kitCase of cases) {
    const fault = faultIn(kitCase, await implementation(kitCase));
    results.push({ kitCase, ...(fault !== undefined && { fault }) });
  }
  return results;
}

/** The highest level whose cases, and those of all levels below, ran and passed; 0: none. */
export function levelIn(results: readonly KitResult[]): 0 | 1 | 2 | 3 {
  const passes = (level: number): boolean => {
    const own = results.filter(({ kitCase }) => kitCase.level === level);
    return own.length > 0 && own.every(({ fault }) => fault === undefined);
  };
  if (!passes(1)) return 0;
  if (!passes(2)) return 1;
  return passes(3) ? 3 : 2;
}

/** The failed cases, a table by kind and level, and the level. */
export function* kitLines(results: readonly KitResult[], terminal: Terminal): Generator<string> {
  for (const { kitCase, fault } of results) if (fault !== undefined) yield `${kitCase.name}: ${fault}`;
  const rows = KIT_KINDS.map((kind) => ({ kind, results: results.filter(({ kitCase }) => kitCase.kind === kind) }));
  yield* table(
    COLUMNS.filter(({ level }) => level === undefined || results.some(({ kitCase }) => kitCase.level === level)),
    rows.filter((row) => row.results.length > 0),
    terminal,
  );
  const level = levelIn(results);
  const isUntried = level < 3 && !results.some(({ kitCase }) => kitCase.level === level + 1);
  yield `conformance level: ${level} of 3${isUntried ? ` (no case of level ${level + 1} was run)` : ""}`;
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

const TIME_LIMIT_MS = 30_000;
const MAX_OUTPUT = 10_000_000;
const MAX_COMPLAINT = 300;

function answerTo(
  { kind, stdin, source, event }: KitCase,
  agents: readonly Agent[],
  text: EnvelopeText,
  now: () => number,
): string | undefined {
  switch (kind) {
    case "convert": {
      const named = { ...(source !== undefined && { source }), ...(event !== undefined && { event }) };
      const { envelopes, problems } = convertAll(payloadsOf(Buffer.from(stdin), named, now), agents, text);
      return problems.length > 0 ? undefined : envelopes.map((envelope) => JSON.stringify(envelope)).join("\n");
    }
    case "validate":
      return JSON.stringify({ texts: checkLine(stdin).texts });
    case "session": {
      const { lines, registration } = JSON.parse(stdin) as { lines: readonly unknown[]; registration?: unknown };
      const found = registration === undefined ? undefined : discoveryIn(JSON.stringify(registration));
      const stream = Buffer.from(lines.map((line) => JSON.stringify(line)).join("\n"));
      const { sources } = validate(stream, typeof found === "object" ? found : undefined);
      return JSON.stringify(Object.fromEntries((sources[0]?.texts ?? []).map((report) => [report.text, report.level])));
    }
    case "discover": {
      const found = discoveryIn(stdin);
      if (typeof found === "string") return undefined;
      const types = subscribed(found);
      return JSON.stringify(ENVELOPE_TYPES.filter((type) => types.has(type)));
    }
    default:
      return kind satisfies never;
  }
}

interface Row {
  readonly kind: KitKind;
  readonly results: readonly KitResult[];
}

const passed = ({ results }: Row, level: number): string => {
  const own = results.filter(({ kitCase }) => kitCase.level === level);
  return own.length === 0 ? "–" : `${own.filter(({ fault }) => fault === undefined).length}/${own.length}`;
};

const COLUMNS: readonly (Column<Row> & { readonly level?: number })[] = [
  { title: "cases", cell: ({ kind }) => kind, rank: 9 },
  ...([1, 2, 3] as const).map((level) => ({
    level,
    title: `level ${level}`,
    cell: (row: Row) => passed(row, level),
    align: "right" as const,
    rank: 8,
  })),
];
