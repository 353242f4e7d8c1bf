import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { type CommitToTrace, traceRecord } from "#changes/agent-trace.ts";
import { commitsToTrace, readCommits } from "#changes/trace-commits.ts";
import type { Context } from "#config/context.ts";
import { writeFileAtomic } from "#config/files.ts";
import { findGit } from "#config/repository/git-files.ts";
import { UserError } from "#kit/errors.ts";
import { suggest } from "#kit/suggest.ts";
import { plural } from "#kit/text/figures.ts";
import { printable } from "#kit/text/terminal.ts";
import { VERSION } from "#kit/version.ts";
import { Attribution } from "#show/report/attribution.ts";
import { changeReport } from "#show/report/change-report.ts";
import { repositoryNumber } from "#show/report/find-change.ts";
import type { Database } from "#store/database.ts";
import { withOpenStore } from "#store/sessions/open-store.ts";
import { spanSettings } from "#store/sessions/span-settings.ts";
import { sessionById } from "#store/sessions.ts";
import { namedChange, repositoryHere } from "./named-change.ts";
import { noStoreMessage } from "./no-store-message.ts";
import { type RefreshOption, refreshed } from "./refreshed.ts";

export interface ExportTraceOptions extends RefreshOption {
  /** Path of the file. @default standard output */
  readonly output?: string;
  readonly force: boolean;
}

/**
 * `openhook-otel export agent-trace`: which files and lines of commits agents wrote, one Agent Trace record per commit and line.
 *
 * @param name commit, pull request, ticket or branch; without it all commits of the repository in the user's folder
 * @returns exit code: 0
 * @throws UserError if there is nothing to write
 */
export async function exportTrace(
  name: string | undefined,
  options: ExportTraceOptions,
  context: Context,
): Promise<number> {
  const { agents, loaded } = await refreshed(options, context);
  const change = name === undefined ? undefined : await namedChange(name, context);
  const here = await repositoryHere(context);
  if (name === undefined && here === undefined) {
    throw new UserError("E_EMPTY", "there is no git repository here: name a commit, pull request, ticket or branch", 1);
  }
  const repositories = withOpenStore(context, (db) => {
    const repository = here && repositoryNumber(db, here);
    if (change !== undefined) return commitsToTrace(db, changeReport(db, agents, change));
    return repository === undefined ? [] : commitsToTrace(db, { repository });
  });
  if (repositories === undefined) throw new UserError("E_EMPTY", await noStoreMessage(context), 1);
  const { commits, problems } = await readCommits(repositories, context);
  for (const problem of problems) context.stderr.write(`${printable(problem)}\n`);
  const roots = await rootsOf(commits, context);
  const deps = {
    agents,
    settings: spanSettings({ loaded }),
    version: VERSION,
    rootOf: (cwd?: string) => roots.get(cwd ?? ""),
  };
  const make = (db: Database) => {
    const attribution = Attribution.of(db);
    return commits.flatMap((one) => traceRecord(db, attribution, one, deps) ?? []);
  };
  const records = withOpenStore(context, make) ?? [];
  const text = records.map((record) => `${JSON.stringify(record)}\n`).join("");
  if (text === "") {
    const of = name === undefined ? "the repository here" : `"${printable(name)}"`;
    throw new UserError(
      "E_EMPTY",
      `no known commit of ${of} has files that an agent's tools edited; ${suggest("report commit")} lists commits`,
      1,
    );
  }
  if (options.output === undefined || options.output === "-") context.stdout.write(text);
  else await saveExport(text, options.output, plural(records.length, "commit"), options.force, context);
  return 0;
}

/** Writes a file that names files. @param what it contains, e.g. `3 commits` @throws UserError if the file exists */
export async function saveExport(
  text: string,
  output: string,
  what: string,
  force: boolean,
  context: Context,
): Promise<void> {
  const path = resolve(context.cwd, output);
  if (!force && existsSync(path)) {
    throw new UserError(
      "E_EXISTS",
      `${JSON.stringify(path)} exists: use --force to replace it, or another --output`,
      1,
    );
  }
  await writeFileAtomic(path, text);
  context.stdout.write(`Wrote ${printable(path)} (${what}). It names files.\n`);
}

// --- internal ---

/** The roots of the worktrees in which the commits' sessions ran, by the sessions' folders. */
async function rootsOf(commits: readonly CommitToTrace[], context: Context): Promise<ReadonlyMap<string, string>> {
  const numbers = new Set(commits.flatMap((one) => one.commits.map(({ session }) => session)));
  const folders = withOpenStore(context, (db) => [...numbers].flatMap((number) => sessionById(db, number).cwd ?? []));
  const roots = new Map<string, string>();
  for (const folder of new Set(folders ?? [])) {
    const place = await findGit(folder);
    if (place !== undefined) roots.set(folder, place.workTree);
  }
  return roots;
}
