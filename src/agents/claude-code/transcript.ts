// Line shapes as recorded from 2.0.77, 2.1.29, 2.1.197 and 2.1.329, read 2026-11-21; token rule in README.md beside this file
import { isAbsolute, join } from "node:path";
import type { EntryOf, Offset } from "#core/model/transcript.ts";
import type { ReadOptions, TranscriptBatch, TranscriptFile, TranscriptReader } from "#core/model/transcript-reader.ts";
import { isSequenceNumber } from "#core/rules/call-ids.ts";
import { defined } from "#kit/objects.ts";
import { readSmallSync } from "#kit/open.ts";
import { asString, parsedObject } from "../shared/payload/json.ts";
import { type LineRules, readLines } from "../shared/transcript/read-lines.ts";
import { lineContent } from "./content.ts";
import { type LineState, lineState } from "./line-context.ts";
import { readLine } from "./lines.ts";
import { files, locate } from "./places.ts";

export default { roots, locate, files, read } satisfies TranscriptReader;

/**
 * `~/.claude`, or `CLAUDE_CONFIG_DIR`; some versions keep it below `~/.config`. Claude Code reads the variable as one folder, but
 * other usage readers accept several, separated by commas, and users of those set it that way.
 */
function roots(home: string, env: Readonly<Record<string, string | undefined>>): readonly string[] {
  const moved = asString(env["CLAUDE_CONFIG_DIR"]);
  const folders =
    moved === undefined
      ? [join(home, ".claude"), join(home, ".config", "claude")]
      : [...new Set([moved, ...listed(moved)])];
  return folders.map((folder) => join(folder, "projects"));
}

function read(file: TranscriptFile, from: Offset, options: ReadOptions = {}): AsyncGenerator<TranscriptBatch> {
  const { agentId, path, roots } = file;
  let firstMs: number | undefined;
  const rules: LineRules<LineState> = {
    kinds: KINDS,
    shortens: true,
    passesCalls: true,
    state: lineState,
    read(line, state, sink) {
      const before = sink.count;
      const kind = readLine(line, state, agentId, sink);
      if (sink.count > before) firstMs ??= state.timeMs;
      return kind;
    },
    content: lineContent,
    async begin({ timeMs }) {
      if (agentId === undefined) return [];
      const meta = readSmallSync(metaPath(path), MAX_META_BYTES, roots);
      return [subagentEntry(agentId, meta, firstMs ?? timeMs)];
    },
  };
  return readLines(file, from, options, rules);
}

// --- internal ---

/** Kinds of lines in recordings or in public transcript readers, with or without facts. */
const KINDS: readonly string[] =
  `user assistant system attachment api-request api-request-blob api-request-shape atis-latch
  cost-state last-prompt tools-used queue-operation mode permission-mode progress file-history-snapshot relocated
  worktree-state summary custom-title agent-name agent-color tag pr-link ai-title content-replacement agent-setting
  task-summary file-history-delta attribution-snapshot speculation-accept marble-origami-commit marble-origami-snapshot
  isolation-latch bridge-session fork-context-ref continued-in ended frame-link artifact-comment-monitor
  artifact-autoreact-ledger`.split(/\s+/);

const listed = (moved: string): readonly string[] =>
  moved
    .split(",")
    .map((folder) => folder.trim())
    .filter((folder) => isAbsolute(folder));

const MAX_META_BYTES = 1 << 20;

/** The file beside a subagent's transcript. */
const metaPath = (path: string): string => path.replace(/\.jsonl$/, ".meta.json");

/**
 * Reads which call started a subagent, from the file beside its transcript. The file exists from 2.1.197 on.
 *
 * @param meta its content, if it exists
 * @param timeMs time of the subagent's first record
 */
function subagentEntry(agentId: string, meta: Buffer | undefined, timeMs: number): EntryOf<"subagent"> {
  const about = parsedObject(meta ?? "{}") ?? {};
  const started = asString(about["toolUseId"]);
  const isCounted = started !== undefined && isSequenceNumber(started);
  return defined<EntryOf<"subagent">>({
    kind: "subagent",
    key: `subagent:${agentId}`,
    timeMs,
    agentId,
    agentType: asString(about["agentType"]),
    parentCallId: isCounted ? undefined : started,
    parentGivenId: isCounted ? started : undefined,
    parentAgentId: asString(about["parentAgentId"]),
  });
}
