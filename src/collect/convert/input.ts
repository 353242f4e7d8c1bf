import { agentNames } from "#agents/registry.ts";
import type { IntakeFacts } from "#core/model/intake-facts.ts";
import { decodePayload } from "../intake/payload.ts";

/** One native payload of the input, and how it arrived. */
export interface NativePayload {
  /** Its first line, from 1. */
  readonly line: number;
  readonly value: unknown;
  readonly facts: IntakeFacts;
}

/** A line without a payload. */
export interface Unreadable {
  readonly line: number;
  readonly reason: string;
}

interface Given {
  /** For payloads that do not name their agent. */
  readonly source?: string;
  readonly event?: string;
}

/** Non-empty lines with their numbers. */
function* linesOf(input: Buffer): Generator<{ readonly line: number; readonly bytes: Buffer }> {
  let line = 1;
  for (let from = 0; from < input.length; line++) {
    const end = input.indexOf(0x0a, from);
    const bytes = input.subarray(from, end === -1 ? input.length : end);
    if (/\S/.test(bytes.toString("latin1"))) yield { line, bytes };
    from = end === -1 ? input.length : end + 1;
  }
}

/** One JSON value over several lines, or one per line; lines without a valid value are included. */
export function valuesIn(input: Buffer): readonly { readonly line: number; readonly bytes: Buffer }[] {
  const lines = [...linesOf(input)];
  const [first] = lines;
  if (first === undefined) return [];
  const isLines = lines.length > 1 && !isWholeValue(input) && lines.some(({ bytes }) => isWholeValue(bytes));
  return isLines ? lines : [{ line: first.line, bytes: input }];
}

/**
 * Splits an input: one JSON value over several lines, or one per line. A line of a hook recorder
 * (`{received_at, event, stdin | stdin_raw, argv, env, ppid}`) contains a payload with the facts beside it. For other payloads only the
 * time of reading is known: this process's environment is not that of the hook.
 *
 * @param now milliseconds since the epoch, for payloads without a time of receipt
 */
export function* payloadsOf(input: Buffer, given: Given, now: () => number): Generator<NativePayload | Unreadable> {
  const received = increasing(now);
  for (const { line, bytes } of valuesIn(input)) {
    const decoded = decodePayload(bytes);
    if (!decoded.ok) {
      yield { line, reason: decoded.reason };
      continue;
    }
    const recorded = recordedIn(decoded.value);
    if (recorded !== undefined) yield* fromRecording(line, recorded, given, received);
    else {
      const truncated = decoded.notes.includes("cut");
      const facts = { ...given, timeMs: received(), env: {}, payloadBytes: bytes.length, truncated };
      yield { line, value: decoded.value, facts };
    }
  }
}

// --- internal ---

type Recorded = Readonly<Record<string, unknown>> & { readonly received_at: string };

function recordedIn(value: unknown): Recorded | undefined {
  if (!isObject(value) || typeof value["received_at"] !== "string") return undefined;
  return "stdin" in value || "stdin_raw" in value ? (value as Recorded) : undefined;
}

function* fromRecording(
  line: number,
  recorded: Recorded,
  given: Given,
  received: () => number,
): Generator<NativePayload | Unreadable> {
  const { received_at: at, event, stdin, stdin_raw: raw, argv, env, ppid, cwd } = recorded;
  const bytes = Buffer.from(typeof raw === "string" ? raw : JSON.stringify(stdin ?? null));
  const decoded = typeof raw === "string" ? decodePayload(bytes) : { ok: true as const, value: stdin, notes: [] };
  if (!decoded.ok) {
    yield { line, reason: decoded.reason };
    return;
  }
  const words = Array.isArray(argv) ? argv.filter((word) => typeof word === "string") : [];
  const source = wordAfter(words, "--source") ?? words.find((word) => agentNames.includes(word)) ?? given.source;
  const name = wordAfter(words, "--event") ?? (typeof event === "string" ? event : undefined) ?? given.event;
  const timeMs = Date.parse(at);
  const facts: IntakeFacts = {
    ...(source !== undefined && { source }),
    ...(name !== undefined && { event: name }),
    ...(typeof ppid === "number" && { parentPid: ppid }),
    ...(typeof cwd === "string" && { cwd }),
    timeMs: Number.isFinite(timeMs) ? timeMs : received(),
    env: isObject(env)
      ? Object.fromEntries(Object.entries(env).filter((pair): pair is [string, string] => typeof pair[1] === "string"))
      : {},
    payloadBytes: bytes.length,
    truncated: decoded.notes.includes("cut"),
  };
  yield { line, value: decoded.value, facts };
}

/** A strictly increasing clock, so that events keep the order of reading. */
function increasing(now: () => number): () => number {
  let last = Number.NEGATIVE_INFINITY;
  return () => {
    last = Math.max(now(), last + 1);
    return last;
  };
}

function isWholeValue(bytes: Buffer): boolean {
  try {
    JSON.parse(bytes.toString("utf8").replace(/^\uFEFF+/, ""));
    return true;
  } catch {
    return false;
  }
}

const wordAfter = (words: readonly string[], flag: string): string | undefined => {
  const at = words.indexOf(flag);
  return at === -1 ? undefined : words[at + 1];
};

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
