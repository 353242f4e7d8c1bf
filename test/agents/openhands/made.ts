import { mkdirSync, mkdtempSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import reader from "#agents/openhands/transcript.ts";
import { INITIAL_OFFSET } from "#core/model/initial-offset.ts";
import type { EntryOf, Offset, TranscriptEntry } from "#core/model/transcript.ts";
import type { TranscriptFile } from "#core/model/transcript-reader.ts";
import { removeFolder } from "../../support/remove.ts";

export const SESSION = "6f0c1c1e-7b7e-4b43-9d0e-0a1b2c3d4e5f";
export const CHILD = "11111111222233334444555555555555";
export const START_MS = Date.UTC(2026, 10, 25, 9);

/** A conversation on a disk: events in order, each written when it happens, unless `writtenMs` says otherwise. */
export class MadeConversation {
  readonly home: string;
  readonly folder: string;
  readonly zoneMs: number;
  #number = 0;

  /** @param zoneMs how far the machine's local time is ahead of UTC */
  constructor(
    home = mkdtempSync(join(tmpdir(), "openhook-openhands-")),
    folder = join(home, ".openhands", "conversations", SESSION.replaceAll("-", "")),
    zoneMs = 0,
  ) {
    [this.home, this.folder, this.zoneMs] = [home, folder, zoneMs];
    this.state({});
  }

  subagent(name = CHILD): MadeConversation {
    return new MadeConversation(this.home, join(this.folder, "subagents", name), this.zoneMs);
  }

  state(uses: Readonly<Record<string, readonly object[]>>): void {
    const usage_to_metrics = Object.fromEntries(
      Object.entries(uses).map(([use, calls]) => [
        use,
        {
          token_usages: calls,
          response_latencies: calls.map((call) => ({ ...call, latency: 0.25 })),
        },
      ]),
    );
    this.#write(join(this.folder, "base_state.json"), {
      agent: { llm: { model: "openai/acme-coder-1", base_url: "http://127.0.0.1/v1" } },
      workspace: { working_dir: "/home/dev/acme-shop" },
      stats: { usage_to_metrics },
    });
  }

  /** @returns the event's id */
  event(kind: string, ms: number, members: object, writtenMs = ms): string {
    const number = String(this.#number++).padStart(5, "0");
    const id = `00000000-0000-4000-8000-${String(ms).padStart(12, "0")}`;
    const local = new Date(START_MS + ms + this.zoneMs).toISOString().replace("Z", "123");
    const path = join(this.folder, "events", `event-${number}-${id}.json`);
    this.#write(path, { id, timestamp: local, kind, ...members });
    const time = new Date(START_MS + writtenMs);
    utimesSync(path, time, time);
    return id;
  }

  prompt(ms: number, text: string): string {
    return this.event("MessageEvent", ms, { source: "user", llm_message: { content: [{ type: "text", text }] } });
  }

  answer(ms: number, llm_response_id: string): string {
    const llm_message = { content: [{ type: "text", text: "Done." }] };
    return this.event("MessageEvent", ms, { source: "agent", llm_message, llm_response_id });
  }

  action(ms: number, llm_response_id: string, tool_call_id: string, tool_name: string, action: object): string {
    return this.event("ActionEvent", ms, { source: "agent", tool_name, tool_call_id, llm_response_id, action });
  }

  result(ms: number, action_id: string, tool_call_id: string, tool_name: string, writtenMs = ms): string {
    const observation = { is_error: false, content: [] };
    const members = { source: "environment", tool_name, tool_call_id, action_id, observation };
    return this.event("ObservationEvent", ms, members, writtenMs);
  }

  async parts(): Promise<readonly TranscriptFile[]> {
    return reader.files({ sessionId: SESSION, home: this.home, roots: reader.roots(this.home, {}) });
  }

  /** The entries of all parts, and where each part stopped. */
  async read(offsets = new Map<string, Offset>()): Promise<TranscriptEntry[]> {
    const entries: TranscriptEntry[] = [];
    for (const part of await this.parts()) {
      for await (const batch of reader.read(part, offsets.get(part.path) ?? INITIAL_OFFSET)) {
        entries.push(...batch.entries);
        offsets.set(part.path, JSON.parse(JSON.stringify(batch.next)) as Offset);
      }
    }
    return entries;
  }

  remove(): void {
    removeFolder(this.home);
  }

  #write(path: string, value: object): void {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, JSON.stringify(value));
  }
}

export const usage = (response_id: string, prompt_tokens: number, completion_tokens: number) => ({
  model: "openai/acme-coder-1",
  response_id,
  prompt_tokens,
  completion_tokens,
  cache_read_tokens: 100,
  cache_write_tokens: 0,
  reasoning_tokens: 7,
});

export const ofKind = <K extends TranscriptEntry["kind"]>(entries: readonly TranscriptEntry[], kind: K) =>
  entries.filter((entry): entry is EntryOf<K> => entry.kind === kind);
