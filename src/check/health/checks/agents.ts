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
import { type AgentLookup, readSettingsFiles, targetOf } from "#setup/registration/settings.ts";
import type { Database } from "#store/database.ts";
import type { SourceActivity } from "#store/health.ts";
import { readStore } from "#store/read-only.ts";
import type { Examined } from "../facts/examined.ts";
import { asRoot, isOfDeletedProject, whereOf } from "../facts/hook.ts";
import type { AgentStatus, Registration } from "../facts/shape.ts";
import { alsoInStatus, type Finding, inArea, onlyInStatus, type StatusLine } from "../finding.ts";
import { nodeByNameFindings } from "./hook.ts";

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

/** Every agent that can be enabled: installed, registered, able to run, seen, readable. @param activity by source */
export const agentReports = (
  statuses: readonly AgentStatus[],
  activity: ReadonlyMap<string, SourceActivity>,
  context: Context,
  agents: AgentLookup,
): Promise<readonly AgentReport[]> =>
  Promise.all(
    statuses.map(async (status) => {
      const agent = await agents.find(status.source);
      const everywhere = (await agent?.installer?.())?.default;
      const installer = everywhere && installerHere(everywhere, context);
      const { present, version } = (await installer?.detect(targetOf(context))) ?? { present: false };
      const last = activity.get(status.source);
      return {
        source: status.source,
        title: status.title,
        present,
        any_program: agent?.isAnyProgram === true,
        version: version ?? null,
        reported_version: last?.version ?? null,
        last_event: last?.eventMs === undefined ? null : new Date(last.eventMs).toISOString(),
        registrations: status.registrations.filter(({ state }) => state !== "none"),
        findings: await findingsOf({ context, status, agent, installer, present, version, last }),
      };
    }),
  );

/** Registrations that are gone or cannot be read. */
export const registrationFindings = ({ facts }: Pick<Examined, "facts">): readonly Finding[] =>
  facts.agents.flatMap((status) => [...brokenRegistrations(status)]);

/** What keeps hooks from running. `doctor` says it in the report of the agent, whose version it asks for. */
export const blockedLines = ({ facts }: Examined): readonly StatusLine[] =>
  facts.agents.flatMap(({ title, blocked }) =>
    blocked.map((text) => onlyInStatus("broken", `${title} is not collected: ${text}`)),
  );

// --- internal ---

interface AgentFacts {
  readonly context: Context;
  readonly status: AgentStatus;
  readonly agent: Agent | undefined;
  readonly installer: Installer | undefined;
  readonly present: boolean;
  readonly version: string | undefined;
  /** What the store has of it. */
  readonly last: SourceActivity | undefined;
}

async function findingsOf(facts: AgentFacts): Promise<readonly Finding[]> {
  const { status, context } = facts;
  const findings: Finding[] = [...presence(facts), ...brokenRegistrations(status)];
  for (const registration of status.registrations.filter(({ state }) => state === "enabled")) {
    findings.push(...(await runnable(registration, facts)));
  }
  findings.push(...managedFindings(status, findings));
  findings.push(...(await nodeByNameFindings(status, context, asRoot("enable", context.platform))));
  findings.push(...lastEvent(facts), ...(await readable(facts)));
  return findings;
}

const isEnabled = ({ registrations }: AgentStatus): boolean => registrations.some(({ state }) => state === "enabled");

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
  const installed = version === undefined ? "installed, version unknown" : `version ${version}`;
  const before = last?.version === undefined || last.version === version ? "" : `; last event from ${last.version}`;
  if (isEnabled(status) || status.managed !== null) yield ok(`${installed}${before}`);
  else yield remark(`${installed}${before}, not enabled`, enable);
}

/** What the user must fix in an agent's registrations. */
function* brokenRegistrations({ title, source, registrations }: AgentStatus): Generator<Finding> {
  const { broken } = inArea(title);
  for (const registration of registrations) {
    const { scope, state } = registration;
    const flag = scope === "project" ? " --scope project" : "";
    const where = whereOf(registration);
    if (state === "unreadable") {
      yield alsoInStatus(broken(`cannot read ${title}'s settings ${where}: it must be UTF-8 text that you can read`));
    } else if (state === "gone" && !isOfDeletedProject(registration)) {
      yield alsoInStatus(
        broken(
          `${title} is not collected: our registration is gone from ${where}; ${suggest(`enable ${source}${flag}`)} adds it again, ${suggest(`disable ${source}${flag}`)} removes the record of it`,
        ),
      );
    }
  }
}

/** The registration for all users, and what keeps it from running, unless that was found already. */
function* managedFindings({ title, managed, blocked }: AgentStatus, found: readonly Finding[]): Generator<Finding> {
  if (managed === null) return;
  const { ok, broken } = inArea(title);
  yield ok(`registered for all users in ${managed}`);
  const texts = new Set(found.map(({ text }) => text));
  for (const text of blocked) if (!texts.has(text)) yield broken(text);
}

/** Whether the registration is what this version would write, and no setting of the agent keeps it from running. */
async function runnable(
  registration: Registration,
  { status, installer, version, context }: AgentFacts,
): Promise<readonly Finding[]> {
  if (installer === undefined) return [];
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

function* lastEvent({ status, last, context: { now } }: AgentFacts): Generator<Finding> {
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
async function readable({ agent, status, last, context }: AgentFacts): Promise<readonly Finding[]> {
  if (last === undefined || agent?.transcript === undefined) return [];
  const { ok, remark, broken } = inArea(status.title);
  const { default: reader } = await agent.transcript();
  const { transcriptPath: path } = last.newest;
  const onProblem = (_folder: string, error: Error): never => {
    throw error;
  };
  const query = { home: context.places.home, onProblem, ...(path !== undefined && { path }) };
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
