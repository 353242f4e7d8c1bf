import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync } from "node:fs";
import { dirname, join } from "node:path";
import { allAgents } from "#agents/registry.ts";
import type { Agent } from "#core/model/agent.ts";
import type { TranscriptReader } from "#core/model/transcript-reader.ts";
import { CASES, type RecordedCall, Replay } from "../support/replay.ts";
import type { ExpectedSession } from "../support/summary.ts";

/** One recording of an agent with transcripts. */
export interface RecordedCase {
  readonly agent: Agent;
  readonly source: string;
  readonly name: string;
}

/** Every recording in the repository of agents with transcripts. */
export async function recordedCases(): Promise<readonly RecordedCase[]> {
  return (await allAgents()).flatMap((agent) => {
    const folder = join(CASES, agent.source);
    if (agent.transcript === undefined || !existsSync(folder)) return [];
    return readdirSync(folder)
      .filter((name) => existsSync(join(folder, name, "expected.json")))
      .map((name) => ({ agent, source: agent.source, name }));
  });
}

/** A home with the transcripts of one recording, laid out as its agent does. */
export interface RecordedHome {
  /** Contains the home, the store's paths and what a drain needs. */
  readonly replay: Replay;
  readonly home: string;
  /** The variable that moves the agent's folder; empty if it is not moved. */
  readonly env: Readonly<Record<string, string>>;
  readonly reader: TranscriptReader;
  /** Folders that may contain its sessions, with that environment and without. */
  readonly roots: readonly string[];
  /** The sessions in its transcripts; none if the agent has no transcripts. */
  readonly expected: readonly ExpectedSession[];
  /** The hook calls, with paths in this home. */
  readonly calls: readonly RecordedCall[];
}

/**
 * Lays out a recording's transcripts in a separate home. Remove it with `replay.remove()`.
 *
 * @param where `moved`: a variable of the agent moves its folder; agents without such a variable use the usual folder
 */
export async function recordedHome(of: RecordedCase, where: "usual" | "moved" = "usual"): Promise<RecordedHome> {
  const replay = new Replay(of.source, of.name);
  const { home } = replay;
  const reader = (await of.agent.transcript?.())?.default;
  if (reader === undefined) throw new Error(`${of.source} keeps no transcripts`);
  const text = join(CASES, of.source, of.name, "expected.json");
  const { sessions } = JSON.parse(existsSync(text) ? readFileSync(text, "utf8") : '{"sessions":[]}') as {
    readonly sessions: readonly ExpectedSession[];
  };
  const move = where === "moved" ? MOVED[of.source] : undefined;
  const env = move === undefined ? {} : { [move.variable]: join(home, ELSEWHERE) };
  if (move !== undefined) moveFolder(join(home, move.usual), join(home, ELSEWHERE, move.below));
  const moved = (calls: readonly RecordedCall[]): readonly RecordedCall[] =>
    move === undefined
      ? calls
      : (JSON.parse(
          JSON.stringify(calls).replaceAll(
            `${slashed(home)}/${move.usual}/`,
            `${slashed(join(home, ELSEWHERE, move.below))}/`,
          ),
        ) as readonly RecordedCall[]);
  return {
    replay,
    home,
    env,
    reader,
    roots: [...new Set([...reader.roots(home, {}), ...reader.roots(home, env)])],
    expected: replay.hasTranscripts ? sessions : [],
    calls: moved(replay.calls),
  };
}

// --- internal ---

const ELSEWHERE = "agents folder #2";

/** The variable that moves the folder, and the folder's path below the variable's value. */
const MOVED: Readonly<Record<string, { readonly variable: string; readonly usual: string; readonly below: string }>> = {
  "claude-code": { variable: "CLAUDE_CONFIG_DIR", usual: ".claude", below: "" },
  codex: { variable: "CODEX_HOME", usual: ".codex", below: "" },
  "gemini-cli": { variable: "GEMINI_CLI_HOME", usual: ".gemini", below: ".gemini" },
  copilot: { variable: "COPILOT_HOME", usual: ".copilot", below: "" },
  cline: { variable: "CLINE_DIR", usual: ".cline", below: "" },
  opencode: { variable: "XDG_DATA_HOME", usual: ".local/share", below: "" },
  pi: { variable: "PI_CODING_AGENT_DIR", usual: ".pi/agent", below: "" },
  kilo: { variable: "XDG_DATA_HOME", usual: ".local/share", below: "" },
};

/** As `Replay` writes paths into recorded texts, also on Windows. */
const slashed = (path: string): string => path.replaceAll("\\", "/");

function moveFolder(from: string, to: string): void {
  if (!existsSync(from)) return;
  mkdirSync(dirname(to), { recursive: true });
  renameSync(from, to);
}
