import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { detect } from "../../src/agents/detect.ts";
import { allAgents } from "../../src/agents/registry.ts";
import { decodePayload } from "../../src/intake/payload.ts";
import type { Agent, IntakeFacts } from "../../src/model/agent.ts";
import { type Event, extrasOf, isEnvelope, timeMsOf } from "../../src/model/event.ts";
import { assignCallIds } from "../../src/session/assign-call-ids.ts";
import { joinProcesses } from "../../src/session/processes.ts";

/** One call of a documented case: what a hook would be started with, made from public documentation and captures. */
export interface DocumentedCall {
  readonly received_at?: string;
  readonly event?: string;
  readonly argv: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly stdin?: unknown;
  readonly stdin_raw?: string;
  readonly ppid?: number;
}

/** What one line of `calls.jsonl` means, by `truth.json`. */
export interface TruthLine {
  readonly line: number;
  /** Null: no OpenHook event; `aux` says what else. */
  readonly type: string | null;
  /** `minted:X`: made here; the same label is the same value. */
  readonly session_id: string | null;
  readonly tool_call_id: string | null;
  readonly tool_name: string | null;
  readonly status: string | null;
  readonly duration_ms?: number;
  readonly data?: Readonly<Record<string, unknown>>;
  readonly source?: string;
  readonly native_reason?: string;
  readonly aux?: string;
}

export const linesOf = <T>(path: string): readonly T[] =>
  readFileSync(path, "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as T);

export const truthOf = (folder: string): { readonly lines: readonly TruthLine[] } =>
  JSON.parse(readFileSync(join(folder, "truth.json"), "utf8")) as { lines: readonly TruthLine[] };

const KEPT_ENV = ["KIRO_SESSION_ID", "KIRO_VERSION", "CRUSH", "CRUSH_SESSION_ID", "CURSOR_VERSION", "CODEX_HOME"];

/** The intake's facts of a call: what its command line said, when and through which process it came. */
export function intakeOf(call: DocumentedCall, hookPid = 1, rest: Partial<IntakeFacts> = {}): IntakeFacts {
  const flag = (name: string) => {
    const at = call.argv.indexOf(`--${name}`);
    const value = at === -1 ? undefined : call.argv[at + 1];
    return value === undefined ? {} : { [name]: value };
  };
  return {
    ...flag("source"),
    ...flag("event"),
    timeMs: Date.parse(call.received_at ?? "2026-09-14T09:00:00.000Z"),
    env: Object.fromEntries(Object.entries(call.env ?? {}).filter(([name]) => KEPT_ENV.includes(name))),
    cwd: "/home/dev/acme-shop",
    parentPid: call.ppid ?? 4242,
    parentStart: "1",
    hookPid,
    payloadBytes: 2,
    truncated: false,
    ...rest,
  };
}

/** The payload as the drain decodes it: from stdin, from `USER_PROMPT` where stdin stays empty, `{}` where a flag tells all. */
export function payloadOf(
  call: DocumentedCall,
  intake: IntakeFacts,
): { readonly value?: unknown; readonly ok: boolean } {
  const raw = call.stdin_raw ?? JSON.stringify(call.stdin);
  const text = raw === "" ? (call.env?.["USER_PROMPT"] ?? "") : raw;
  if (text === "" && intake.source !== undefined && intake.event !== undefined) return { ok: true, value: {} };
  return decodePayload(Buffer.from(text));
}

export interface Mapped {
  readonly card: Agent | undefined;
  readonly events: readonly Event[];
}

/** Every call through detection and its card, call ids as the session room gives them. */
export async function mapped(calls: readonly DocumentedCall[]): Promise<readonly Mapped[]> {
  const cards = await allAgents();
  const raw = calls.map((call, index): Mapped => {
    const intake = intakeOf(call, index + 1);
    const payload = payloadOf(call, intake);
    const card = payload.ok ? detect(cards, payload.value, intake) : undefined;
    return { card, events: card?.toEvents(payload.value, intake) ?? [] };
  });
  const named = new Map(
    assignCallIds(joinProcesses(raw.flatMap(({ events }) => events))).map((event) => [event.id, event]),
  );
  return raw.map(({ card, events }) => ({ card, events: events.map((event) => named.get(event.id) ?? event) }));
}

/** Compares call by call. Labels of minted ids stand for one value each, and different ones for different values. */
export function compareLines(got: readonly Mapped[], truth: readonly TruthLine[]): void {
  const labels = new Map<string, string>();
  const starts = new Map<string, number>();
  const isSame = (what: string, label: string | null, value: string | undefined): void => {
    if (label === null) return;
    const known = label.startsWith("minted:") ? labels.get(label) : label;
    if (known !== undefined) {
      expect(value, what).toBe(known);
      return;
    }
    expect(value, what).toBeTypeOf("string");
    expect([...labels.values()], what).not.toContain(value);
    labels.set(label, String(value));
  };
  for (const line of truth) {
    const events = got[line.line - 1]?.events ?? [];
    const at = `line ${line.line}`;
    const envelopes = events.filter(isEnvelope);
    expect(
      envelopes.map((event) => event.type),
      at,
    ).toEqual(line.type === null ? [] : [line.type]);
    if (line.aux !== undefined) {
      expect(
        events.map((event) => event.type),
        at,
      ).toEqual(signalsOf(line.aux));
      if (events[0] !== undefined) isSame(at, line.session_id, events[0].session_id);
    }
    const [event] = envelopes;
    if (event === undefined) continue;
    isSame(at, line.session_id, event.session_id);
    const data: Readonly<Record<string, unknown>> = event.data ?? {};
    if (event.type === "tool.start" || event.type === "tool.end") {
      isSame(at, line.tool_call_id, event.data?.tool_call_id);
      expect(data["tool_name"] ?? null, at).toBe(line.tool_name);
      expect(data["status"] ?? null, at).toBe(line.status);
      const callId = event.data?.tool_call_id ?? "";
      if (event.type === "tool.start") starts.set(callId, timeMsOf(event));
      else if (line.duration_ms !== undefined) {
        expect(data["duration_ms"] ?? timeMsOf(event) - (starts.get(callId) ?? 0), at).toBe(line.duration_ms);
      }
    }
    if (line.native_reason !== undefined) expect(extrasOf(event).native_reason, at).toBe(line.native_reason);
    if (line.data !== undefined) expect(data, at).toMatchObject(line.data);
  }
}

// --- internal ---

function signalsOf(aux: string): readonly string[] {
  if (aux.startsWith("turn end")) return ["turn.end"];
  if (aux.startsWith("compaction")) return ["compaction"];
  return aux.startsWith("subagent end") ? ["subagent.end"] : [];
}
