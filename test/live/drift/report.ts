// One agent's part of the drift report.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Agent } from "#core/model/agent.ts";
import { REGISTERED_FILE } from "../record.ts";
import { compareFiles, comparePayloads, type Difference, plain } from "./compare.ts";
import { byEvent, type FileNames, keptPayloads, namesInFiles, recordingsIn } from "./observe.ts";

/** The recording that every agent has: one turn with two tools. */
const SIMPLE = "basic";

/**
 * Compares what a live run kept with the agent's recordings.
 *
 * @param recordings the agent's folder in test/agents
 * @param kept the agent's folder of `OPENHOOK_LIVE_RECORD`
 * @param failures scenarios whose figures were not those of the model server, with the reason
 */
export function differencesOf(
  agent: Agent,
  { recordings, kept }: { readonly recordings: string; readonly kept: string },
  failures: ReadonlyMap<string, string>,
): readonly Difference[] {
  const recorded = recordingsIn(recordings);
  const scenarios = existsSync(kept) ? readdirSync(kept) : [];
  const before = byEvent(
    agent,
    recorded.flatMap(({ sent }) => sent),
  );
  const now = byEvent(
    agent,
    scenarios.flatMap((name) => keptPayloads(join(kept, name, "inbox"))),
  );
  const simple = recorded.find(({ name }) => name === SIMPLE);
  const registered = scenarios.flatMap((name) => registeredIn(join(kept, name, REGISTERED_FILE)));
  const expected = new Map(
    [...byEvent(agent, simple?.sent ?? [])].filter(([event]) =>
      registered.some((name) => plain(name) === plain(event)),
    ),
  );
  const files = {
    before: merged(recorded.map(({ files }) => namesInFiles(files))),
    now: merged(scenarios.map((name) => namesInFiles(join(kept, name, "home")))),
  };
  return [
    ...[...failures].map(([name, reason]) => ({
      change: "changed" as const,
      what: "figure" as const,
      name: `${name}: ${reason}`,
      isUsed: true,
    })),
    ...(now.size === 0 ? [] : comparePayloads(agent, { before, now }, expected)),
    ...compareFiles(files, simple === undefined ? new Map() : namesInFiles(simple.files)),
  ];
}

/** As lines of text; what we use comes first. */
export const differenceLines = (differences: readonly Difference[]): readonly string[] =>
  [...differences]
    .sort((a, b) => Number(b.isUsed) - Number(a.isUsed))
    .map((difference) => `  ${difference.isUsed ? "USED " : ""}${textOf(difference)}`);

/** What the version of the live tests does differently too: recordings hold only the files that we read, and fewer scenarios. */
export const acceptable = (differences: readonly Difference[]): readonly string[] =>
  differences
    .filter(({ isUsed }) => !isUsed)
    .map(textOf)
    .sort();

/** Differences that are not accepted; what we use is never accepted. */
export const withoutAccepted = (differences: readonly Difference[], accepted: readonly string[] = []) =>
  differences.filter((difference) => difference.isUsed || !accepted.includes(textOf(difference)));

// --- internal ---

const textOf = ({ change, what, name }: Difference): string => `${change} ${what}: ${name}`;

const registeredIn = (path: string): readonly string[] =>
  existsSync(path) ? (JSON.parse(readFileSync(path, "utf8")) as readonly string[]) : [];

function merged(all: readonly FileNames[]): FileNames {
  const names = new Map<string, Set<string>>();
  for (const one of all) {
    for (const [kind, members] of one) names.set(kind, new Set([...(names.get(kind) ?? []), ...members]));
  }
  return names;
}
