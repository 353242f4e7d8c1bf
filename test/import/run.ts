import { exportPacked } from "#collect/import/export.ts";
import { readersInThisThread } from "#collect/import/readers.ts";
import { type ImportOptions, type ImportReport, importSessions } from "#collect/import/run.ts";
import { nameRedactor } from "#core/privacy/names.ts";
import { redact, redactorOf } from "#core/privacy/redact.ts";
import type { Replay } from "../support/replay.ts";

const redactSecrets = redactorOf({ emails: false, homeDirectories: false, own: [] });

/** Imports one agent's past as the command does, in this process. @param version of the program, by default that of the tests */
export async function importInto(
  of: Replay,
  source: string,
  options: Partial<ImportOptions> = {},
  version?: string,
): Promise<ImportReport> {
  const deps = await of.deps(version === undefined ? {} : { version });
  const report = await importSessions(deps, {
    agents: [source],
    env: {},
    dryRun: false,
    readers: () =>
      readersInThisThread((name) => deps.agents.find((agent) => agent.source === name), {
        redact,
        redactName: nameRedactor(redact, true),
        redactSecrets,
      }),
    onProgress: () => {},
    signal: new AbortController().signal,
    ...options,
  });
  if (report === undefined) throw new Error("a drain was at work");
  return report;
}

/** Unpacks every imported session, without a backend. */
export async function unpackAll(of: Replay, source: string): Promise<void> {
  const never = new AbortController().signal;
  await exportPacked(await of.deps(), { agents: [source], sinceMs: undefined, signal: never, onProgress: () => {} });
}
