import { open } from "node:fs/promises";
import { filesOfSession } from "#collect/transcripts/session-files.ts";
import { rootsOf } from "#collect/transcripts/transcript-roots.ts";
import type { Context } from "#config/context.ts";
import { loadConfig } from "#config/load.ts";
import type { Agent } from "#core/model/agent.ts";
import type { Installer } from "#core/model/installer.ts";
import type { TranscriptReader } from "#core/model/transcript-reader.ts";
import { refusalOf } from "#kit/open.ts";
import { suggest } from "#kit/suggest.ts";
import { duration, plural } from "#kit/text/figures.ts";
import { hookCommandOf } from "#setup/registration/hook-program.ts";
import { installerHere } from "#setup/registration/other-places.ts";
import { type AgentLookup, readSettingsFiles, targetOf } from "#setup/registration/settings-edit.ts";
import type { Database } from "#store/database.ts";
import type { SourceActivity } from "#store/health.ts";
import { readStore } from "#store/read-only.ts";
import { asRoot } from "../status/managed-hook.ts";
import { brokenRegistrations, whereOf } from "../status/registrations.ts";
import type { AgentStatus, Registration } from "../status/shape.ts";
import { type Finding, inArea } from "./finding.ts";
import { nodeByNameFindings } from "./node-by-name.ts";
import type { StoreActivity } from "./store.ts";

/** The checks of one agent. */
export interface AgentReport {
  readonly source: string;
  readonly title: string;
  readonly present: boolean;
  /** It is not one program, but all that send OpenHook themselves. */
  readonly any_program: boolean;
  /** `null`: unknown. */
  readonly version: string | null;
  /** The last version that the store has seen. */
  readonly reported_version: string | null;
  readonly last_event: string | null;
  readonly registrations: readonly Registration[];
  readonly findings: readonly Finding[];
}

/** Every agent that can be enabled: installed, registered, able to run, seen, readable. */
export async function agentReports(
  statuses: readonly AgentStatus[],
  activity: StoreActivity,
  context: Context,
  agents: AgentLookup,
): Promise<readonly AgentReport[]> {
  const target = targetOf(context);
  return Promise.all(
    statuses.map(async (status) => {
      const agent = await agents.find(status.source);
      const of = (await agent?.installer?.())?.default;
      const installer = of && installerHere(of, context);
      const { present, version } = (await installer?.detect(target)) ?? { present: false };
      const last = activity.of(status.source);
      const facts = { status, present, version, last };
      const findings: Finding[] = [...presence(facts), ...registrationFindings(status)];
      for (const registration of status.registrations.filter(({ state }) => state === "enabled")) {
        if (installer !== undefined) findings.push(...(await runnable(registration, installer, facts, context)));
      }
      if (status.managed !== null) {
        findings.push(inArea(status.title).ok(`registered for all users in ${status.managed}`));
        const known = new Set(findings.map(({ text }) => text));
        findings.push(
          ...status.blocked.filter((text) => !known.has(text)).map((text) => inArea(status.title).broken(text)),
        );
      }
      findings.push(...(await nodeByNameFindings(status, context, asRoot("enable", context.platform))));
      findings.push(...lastEvent(facts, context));
      if (agent !== undefined) findings.push(...(await readable(agent, facts, context)));
      return {
        source: status.source,
        title: status.title,
        present,
        any_program: agent?.isAnyProgram === true,
        version: version ?? null,
        reported_version: last?.version ?? null,
        last_event: last?.eventMs === undefined ? null : new Date(last.eventMs).toISOString(),
        registrations: status.registrations.filter(({ state }) => state !== "none"),
        findings,
      };
    }),
  );
}

// --- internal ---

interface AgentFacts {
  readonly status: AgentStatus;
  readonly present: boolean;
  readonly version?: string | undefined;
  readonly last: SourceActivity | undefined;
}

const isEnabled = ({ registrations }: AgentStatus): boolean => registrations.some(({ state }) => state === "enabled");

const registrationFindings = (status: AgentStatus): readonly Finding[] =>
  brokenRegistrations(status).map((text) => inArea(status.title).broken(text));

function* presence({ status, present, version, last }: AgentFacts): Generator<Finding> {
  const { ok, remark } = inArea(status.title);
  const enable = suggest(`enable ${status.source}`);
  if (!present) {
    if (isEnabled(status)) yield remark("registered, but its program was not found", "check your PATH");
    else
      yield ok(
        last === undefined ? "not found on this machine" : "its program was not found; the store has sessions of it",
      );
    return;
  }
  const known = version === undefined ? "installed, version unknown" : `version ${version}`;
  const before = last?.version === undefined || last.version === version ? "" : `; last event from ${last.version}`;
  if (isEnabled(status) || status.managed !== null) yield ok(`${known}${before}`);
  else yield remark(`${known}${before}, not enabled`, enable);
}

/** Whether the registration is what this version would write, and no setting of the agent keeps it from running. */
async function runnable(
  registration: Registration,
  installer: Installer,
  { status, version }: AgentFacts,
  context: Context,
): Promise<readonly Finding[]> {
  const { ok, remark, broken } = inArea(status.title);
  const { scope, paths, project, events } = registration;
  const target = { ...targetOf(context), ...(project !== null && { project }) };
  const where = `${whereOf(registration)} (${scope}, ${plural(events.length, "event")})`;
  const enable = suggest(`enable ${status.source}${scope === "project" ? " --scope project" : ""}`);
  try {
    const files = await readSettingsFiles(paths);
    const found = ((await installer.check?.(files, target)) ?? []).map(({ level, text }) =>
      level === "broken" ? broken(text) : remark(text),
    );
    const command = hookCommandOf(context, scope);
    const wanted = installer.add(files, { scope, target, command, version: scope === "user" ? version : undefined });
    const isCurrent = files.every(({ text }, index) => text === wanted[index]?.text);
    const place = project === null || project === context.cwd ? "" : ` in ${project}`;
    const stale = isCurrent
      ? []
      : [remark(`registered in ${where}, but not as this version would`, `${enable}${place} updates it`)];
    return [...(isCurrent ? [ok(`registered in ${where}`)] : stale), ...found];
  } catch (error) {
    return [broken(`cannot read ${where}: ${error instanceof Error ? error.message : String(error)}`)];
  }
}

function* lastEvent({ status, last }: AgentFacts, { now }: Context): Generator<Finding> {
  const { ok, remark } = inArea(status.title);
  if (last?.eventMs !== undefined) {
    yield ok(
      `last event ${duration(Math.max(0, now() - last.eventMs))} ago, ${plural(last.sessions, "session")} in total`,
    );
  } else if (isEnabled(status)) {
    yield remark("no event received yet", "start a session; one that was running before enabling must be restarted");
  }
}

/** Whether the last session's transcript can be read: most agents' tokens come from there. */
async function readable(agent: Agent, { status, last }: AgentFacts, context: Context): Promise<readonly Finding[]> {
  const { places } = context;
  if (last === undefined || agent.transcript === undefined) return [];
  const { ok, remark, broken } = inArea(status.title);
  const { default: reader } = await agent.transcript();
  const { transcriptPath: path } = last.newest;
  const onProblem = (_folder: string, error: Error): never => {
    throw error;
  };
  const query = { home: places.home, onProblem, ...(path !== undefined && { path }) };
  try {
    const files = await filesOfSession(reader, last.newest, query);
    const roots = await allowedFolders(reader, agent.source, context);
    for (const file of files) {
      // The same check as in a drain
      const refusal = await refusalOf(file.path, roots);
      if (refusal !== undefined) return [broken(`the last session's transcript cannot be read: ${refusal}`)];
      await (await open(file.path, "r")).close();
    }
    const note = agent.transcriptNote === undefined ? "" : `; ${agent.transcriptNote}`;
    if (files.length > 0)
      return [ok(`the last session's transcript can be read (${plural(files.length, "part")})${note}`)];
    const where = path === undefined ? "" : `: ${path}`;
    const why = "without it tokens and model calls are unknown";
    return [remark(`the last session's transcript does not exist${where}`, why)];
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return [broken(`the last session's transcript cannot be read: ${reason}`, "make it readable for you")];
  }
}

/** The folders from which drains read this agent's transcripts. */
async function allowedFolders(reader: TranscriptReader, source: string, context: Context): Promise<readonly string[]> {
  const { places } = context;
  const loaded = await loadConfig(context);
  const folders = (db: Database | undefined) => rootsOf({ places, loaded, db }, reader, source);
  return readStore(places.storePath, folders) ?? folders(undefined);
}
