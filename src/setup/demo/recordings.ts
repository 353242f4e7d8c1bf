import { randomUUID } from "node:crypto";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { dirname, extname, join } from "node:path";
import * as z from "zod";
import { UserError } from "#kit/errors.ts";

const HookCall = z.object({
  received_at: z.iso.datetime({ offset: true }),
  event: z.string(),
  env: z.record(z.string(), z.string()).default({}),
  stdin: z.record(z.string(), z.unknown()),
});

const Expected = z.object({
  agent: z.string(),
  sessions: z.array(
    z.object({
      session_id: z.string(),
      totals: z.object({ input: z.number(), output: z.number(), cache_read: z.number(), cache_write: z.number() }),
    }),
  ),
});

/** One call of the hook, as the agent made it. */
interface HookCall {
  readonly timeMs: number;
  readonly event: string;
  /** What the agent adds to the hook's environment. */
  readonly env: Readonly<Record<string, string>>;
  /** The payload, JSON. */
  readonly stdin: string;
}

export interface RecordedSession {
  readonly sessionId: string;
  /** Counts of the model server that the agent used. */
  readonly totals: Totals;
}
export type Totals = z.infer<typeof Expected>["sessions"][number]["totals"];

/** One recorded run of an agent, moved to another home, time and session ids. */
export interface Recording {
  /** What was recorded, e.g. `parallel-tools`. */
  readonly name: string;
  /** The agent's name, as in envelopes. */
  readonly source: string;
  readonly calls: readonly HookCall[];
  readonly sessions: readonly RecordedSession[];
}

/**
 * Reads all recordings in a folder and writes the agent's transcripts into a home.
 *
 * Only three things change in the text: the home's path; the times, all by the same amount, so that the last session ends at `endMs`
 * (backends refuse old data); and the session ids, so that a backend that has seen a demo before shows this one separately.
 *
 * @param folder contains one folder per recording: `hooks.jsonl`, `expected.json`, `transcripts/`
 * @returns recordings in the order in which they happened
 * @throws UserError if the folder is missing or contains something else
 */
export async function unpackRecordings(folder: string, home: string, endMs: number): Promise<readonly Recording[]> {
  const packed = await Promise.all((await namesIn(folder)).map((name) => readPacked(join(folder, name), name)));
  const lastMs = Math.max(...packed.flatMap(timesOf));
  const recordings: Recording[] = [];
  for (const recording of packed) {
    const moved = movedText(recording, home, endMs - lastMs);
    for (const { path, text } of recording.transcripts) {
      const target = join(home, TRANSCRIPT_ROOT, moved(path));
      await mkdir(dirname(target), { recursive: true });
      await writeFile(target, moved(text));
    }
    recordings.push({
      name: recording.name,
      source: recording.expected.agent,
      calls: recording.hooks.map((hook) => toCall(HookCall.parse(JSON.parse(moved(hook))))),
      sessions: recording.expected.sessions.map((s) => ({ sessionId: moved(s.session_id), totals: s.totals })),
    });
  }
  return recordings.sort((a, b) => firstMs(a) - firstMs(b));
}

// --- internal ---

/** Where the recorded agent keeps its transcripts, below the home. */
const TRANSCRIPT_ROOT = join(".claude", "projects");
const RECORDED_HOME = "/home/dev";

interface Packed {
  readonly name: string;
  /** Lines of JSON. */
  readonly hooks: readonly string[];
  readonly transcripts: readonly { readonly path: string; readonly text: string }[];
  readonly expected: z.infer<typeof Expected>;
}

async function readPacked(folder: string, name: string): Promise<Packed> {
  try {
    const below = join(folder, "transcripts");
    const paths = (await readdir(below, { recursive: true })).filter((path) => extname(path) !== "");
    return {
      name,
      hooks: (await readFile(join(folder, "hooks.jsonl"), "utf8")).split("\n").filter((line) => line !== ""),
      transcripts: await Promise.all(
        paths.map(async (path) => ({ path, text: await readFile(join(below, path), "utf8") })),
      ),
      expected: Expected.parse(JSON.parse(await readFile(join(folder, "expected.json"), "utf8"))),
    };
  } catch (error) {
    throw incomplete(folder, error);
  }
}

async function namesIn(folder: string): Promise<readonly string[]> {
  const names = await readdir(folder).catch((error: unknown) => {
    throw incomplete(folder, error);
  });
  if (names.length === 0) throw incomplete(folder, new Error("it is empty"));
  return names.sort();
}

function incomplete(folder: string, error: unknown): UserError {
  const reason = error instanceof Error ? error.message : String(error);
  const advice = "install or check out openhook-otel again";
  return new UserError("E_DEMO", `cannot read the recordings in ${folder}: ${reason}; ${advice}`, 1, { cause: error });
}

const HOOK_TIME = /"received_at":"([^"]+)"/;
const TRANSCRIPT_TIME = /"timestamp":"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z)"/g;

function timesOf({ hooks, transcripts }: Packed): readonly number[] {
  const inHooks = hooks.map((line) => HOOK_TIME.exec(line)?.[1] ?? "");
  const inTranscripts = transcripts.flatMap(({ text }) => [...text.matchAll(TRANSCRIPT_TIME)].map((m) => m[1] ?? ""));
  return [...inHooks, ...inTranscripts].map(Date.parse).filter(Number.isFinite);
}

function movedText({ expected }: Packed, home: string, byMs: number): (text: string) => string {
  const ids = expected.sessions.map(({ session_id }) => [session_id, randomUUID()] as const);
  const dashed = (path: string): string => path.replaceAll(/[^A-Za-z0-9]/g, "-");
  const inJson = JSON.stringify(home).slice(1, -1);
  const later = (time: string): string => new Date(Date.parse(time) + byMs).toISOString();
  return (text) => {
    const elsewhere = text
      .replaceAll(`${RECORDED_HOME}/`, `${inJson}/`)
      .replaceAll(`${dashed(RECORDED_HOME)}-`, `${dashed(home)}-`)
      .replace(TRANSCRIPT_TIME, (_, time: string) => `"timestamp":"${later(time)}"`)
      .replace(HOOK_TIME, (_, time: string) => `"received_at":"${later(time)}"`);
    return ids.reduce((so, [before, now]) => so.replaceAll(before, now), elsewhere);
  };
}

const toCall = ({ received_at, event, env, stdin }: z.infer<typeof HookCall>): HookCall => ({
  timeMs: Date.parse(received_at),
  event,
  env,
  stdin: JSON.stringify(stdin),
});

const firstMs = ({ calls }: Recording): number => Math.min(...calls.map((call) => call.timeMs));
