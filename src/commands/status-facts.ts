import { constants, existsSync } from "node:fs";
import { access, open, readdir, readFile, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import * as z from "zod";
import { allAgents } from "../agents/registry.ts";
import { allRecords, type BackupRecord } from "../config/backup.ts";
import { type LoadedConfig, loadConfig } from "../config/load.ts";
import { otlpSettings } from "../config/otlp.ts";
import { redactUrl } from "../config/redact.ts";
import { counts } from "../intake/inbox.ts";
import type { Agent, Installer } from "../model/agent.ts";
import { type Database, StoreError } from "../store/database.ts";
import { readMeta } from "../store/meta.ts";
import { waitingCount } from "../store/outbox.ts";
import { readStore, sessionCounts, sessionsWithoutTranscript, unreadableLines } from "../store/overview.ts";
import { VERSION } from "../version.ts";
import type { Context } from "./context.ts";
import { duration, isoTime, plural } from "./figures.ts";
import { adviceOn } from "./look.ts";
import { targetOf } from "./settings-edit.ts";

/** Everything `status` knows, as `--json` gives it. Times are ISO 8601; unknown or never is `null`. */
export interface Status {
  readonly agents: readonly AgentStatus[];
  readonly hook: {
    readonly path: string;
    readonly installed: boolean;
    readonly executable: boolean;
    /** What the hook starts drains with, from its `hook.conf`. */
    readonly node: string | null;
    readonly program: string | null;
  };
  readonly state_dir: string;
  readonly state_dir_exists: boolean;
  readonly inbox: {
    readonly waiting: number;
    readonly claimed: number;
    readonly oldest: string | null;
    readonly quarantined: number;
    readonly quarantine_dir: string;
    /** The newest three; reasons, never content. */
    readonly quarantine_newest: readonly {
      readonly source: string | null;
      readonly reason: string | null;
      readonly at: string | null;
    }[];
  };
  readonly store: {
    readonly path: string;
    readonly state: "none" | "ok" | "damaged" | "newer" | "unreadable";
    readonly sessions: number;
    readonly open: number;
  };
  readonly outbox: { readonly waiting_spans: number };
  readonly last_drain: LastDrain | null;
  readonly delivery: { readonly traces: Delivery; readonly metrics: Delivery };
  readonly log: { readonly path: string; readonly exists: boolean; readonly last_lines: readonly string[] };
  readonly config: {
    readonly path: string;
    readonly errors: readonly string[];
    readonly warnings: readonly string[];
  };
  /** What only the user can mend; each says how. */
  readonly broken: readonly string[];
  /** What is worth knowing and mends itself, or costs little. */
  readonly remarks: readonly string[];
}

export interface AgentStatus {
  readonly source: string;
  readonly title: string;
  readonly registrations: readonly Registration[];
}

export interface Registration {
  readonly scope: "user" | "project";
  readonly path: string;
  /** `gone`: `enable` registered us there, and the file does not hold it any more. */
  readonly state: "enabled" | "gone" | "unreadable" | "none";
  /** Native names. */
  readonly events: readonly string[];
  /** Whether `enable` on this machine did it. */
  readonly recorded: boolean;
}

export interface LastDrain {
  readonly at: string;
  readonly files: number;
  readonly events: number;
  readonly ignored: number;
  readonly quarantined: number;
  readonly left: number;
  readonly transcript_lines_unreadable: number;
  readonly spans: number;
  readonly sent: number;
  readonly rejected: number;
  readonly problems: readonly string[];
}

export interface Delivery {
  /** Without secrets; `null`: not sent. */
  readonly endpoint: string | null;
  readonly why_not_sent: string | null;
  readonly last_ok: string | null;
  readonly last_problem: string | null;
  /** In the future: the backend asked for it. */
  readonly not_before: string | null;
}

/** Looks everywhere and changes nothing: no directory, no store, no file is made. */
export async function collectStatus(context: Context): Promise<Status> {
  const { places } = context;
  const loaded = await loadConfig(context);
  const agents = await agentsOf(context);
  const hook = await hookOf(context);
  const inboxes = await inboxOf(context);
  const store = storeOf(context);
  const log = await logOf(join(places.stateDir, "drain.log"));
  const isEnabled = agents.some(({ registrations }) => registrations.some((one) => one.state === "enabled"));
  const hasRecords = agents.some(({ registrations }) => registrations.some((one) => one.recorded));
  return {
    agents,
    hook,
    state_dir: places.stateDir,
    state_dir_exists: existsSync(places.stateDir),
    inbox: inboxes.inbox,
    store: { path: places.storePath, state: store.state, sessions: store.sessions, open: store.open },
    outbox: { waiting_spans: store.waitingSpans },
    last_drain: store.lastDrain,
    delivery: {
      traces: deliveryOf("traces", loaded, store.meta, context),
      metrics: deliveryOf("metrics", loaded, store.meta, context),
    },
    log,
    config: { path: places.configPath, errors: loaded.errors, warnings: loaded.warnings },
    broken: [
      ...(await unwritable(context)),
      ...inboxes.broken,
      ...store.broken,
      ...(isEnabled || hasRecords ? brokenHook(hook, isEnabled, context) : []),
      ...agents.flatMap(brokenRegistrations),
      ...loaded.errors.map((error) => `configuration: ${error}`),
    ],
    remarks: [
      ...store.remarks,
      ...staleRemark(inboxes.inbox, context.now()),
      // Drains that could not even open the store have only the log to tell it
      ...(store.state === "ok" ? [] : log.last_lines.map((line) => `log: ${line}`)),
      ...loaded.warnings.map((warning) => `configuration: ${warning}`),
    ],
  };
}

// --- internal ---

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

// Agents

async function agentsOf(context: Context): Promise<readonly AgentStatus[]> {
  const records = await allRecords(context.places.backupDir);
  const found: AgentStatus[] = [];
  for (const agent of await allAgents()) {
    const installer = (await agent.installer?.())?.default;
    if (installer === undefined) continue;
    found.push({
      source: agent.source,
      title: agent.title,
      registrations: await registrationsOf(agent, installer, records, context),
    });
  }
  return found;
}

/** The settings files of here and now, and those that `enable` has touched elsewhere. */
async function registrationsOf(
  agent: Agent,
  installer: Installer,
  records: readonly BackupRecord[],
  context: Context,
): Promise<readonly Registration[]> {
  const own = records.filter((record) => record.agent === agent.source);
  const recorded = new Set(own.map((record) => record.path));
  const places = new Map<string, "user" | "project">();
  for (const scope of installer.scopes) {
    const path = installer.path(scope, targetOf(context));
    if (!places.has(path)) places.set(path, scope);
  }
  for (const { path, scope } of own) places.set(path, scope);
  const found = [...places].map(([path, scope]) => registrationAt(path, scope, installer, recorded.has(path)));
  return Promise.all(found);
}

async function registrationAt(
  path: string,
  scope: "user" | "project",
  installer: Installer,
  recorded: boolean,
): Promise<Registration> {
  try {
    const events = installer.registered(await readFile(path, "utf8"));
    const state = events.length > 0 ? "enabled" : recorded ? "gone" : "none";
    return { scope, path, state, events, recorded };
  } catch (error) {
    const isMissing = error instanceof Error && "code" in error && error.code === "ENOENT";
    return { scope, path, state: isMissing ? (recorded ? "gone" : "none") : "unreadable", events: [], recorded };
  }
}

function brokenRegistrations({ title, source, registrations }: AgentStatus): readonly string[] {
  return registrations.flatMap(({ scope, path, state }) => {
    const flag = scope === "project" ? " --scope project" : "";
    if (state === "unreadable") return [`cannot read ${title}'s settings ${path}: make it readable for you`];
    if (state !== "gone") return [];
    // A project that was deleted takes its registration with it; nobody needs to mend that
    if (scope === "project" && !existsSync(dirname(dirname(path)))) return [];
    return [
      `${title} is not collected: our registration is gone from ${path}; openhook-otel enable ${source}${flag} puts it back, openhook-otel disable ${source}${flag} forgets it`,
    ];
  });
}

// The hook program

async function hookOf({ places, platform }: Context): Promise<Status["hook"]> {
  const conf = await readFile(places.hookConfPath, "utf8").catch(() => "");
  const installed = existsSync(places.hookPath);
  // On Windows the Node binary runs it, so that reading is enough
  const mode = platform === "win32" ? constants.R_OK : constants.X_OK;
  const executable = installed && (await isAccessible(places.hookPath, mode));
  return {
    path: places.hookPath,
    installed,
    executable,
    node: confValue(conf, "node"),
    program: confValue(conf, "program"),
  };
}

/** A value as `enable` wrote it, for a POSIX shell. */
function confValue(conf: string, name: string): string | null {
  const found = new RegExp(`^${name}='((?:[^']|'\\\\'')*)'$`, "m").exec(conf)?.[1];
  return found === undefined ? null : found.replaceAll("'\\''", "'");
}

function brokenHook(hook: Status["hook"], isEnabled: boolean, { places }: Context): readonly string[] {
  const repair = "openhook-otel enable puts it right";
  if (!hook.installed) return isEnabled ? [`agents are told to run ${hook.path}, and it is not there: ${repair}`] : [];
  if (!hook.executable) return [`${hook.path} cannot be executed: ${repair}`];
  if (hook.program === null || hook.node === null) {
    return [`${places.hookConfPath} is missing or damaged, so that no hook can start a drain: ${repair}`];
  }
  // A missing Node binary is made good by the one on the PATH
  return existsSync(hook.program)
    ? []
    : [`hooks cannot start a drain: ${hook.program}, named in ${places.hookConfPath}, is not there: ${repair}`];
}

// State directory and inbox

/** Where the hook or a drain would have to write and cannot. */
async function unwritable({ places }: Context): Promise<readonly string[]> {
  const lost = "what agents tell is lost until it can be written; check its owner and mode";
  for (const dir of [places.stateDir, places.inboxDir, places.claimedDir]) {
    const existing = await nearestExisting(dir);
    if (!(await isDirectory(existing))) return [`${existing} is no directory: ${lost}`];
    if (!(await isAccessible(existing, constants.W_OK | constants.X_OK)))
      return [`cannot write to ${existing}: ${lost}`];
  }
  return [];
}

async function nearestExisting(path: string): Promise<string> {
  let at = path;
  while (!(await exists(at)) && dirname(at) !== at) at = dirname(at);
  return at;
}

const exists = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  );
const isDirectory = (path: string): Promise<boolean> =>
  stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
const isAccessible = (path: string, mode: number): Promise<boolean> =>
  access(path, mode).then(
    () => true,
    () => false,
  );

async function inboxOf({ places }: Context): Promise<{ readonly inbox: Status["inbox"]; readonly broken: string[] }> {
  const empty = { inbox: 0, claimed: 0, quarantined: 0 };
  const broken: string[] = [];
  const found: Awaited<ReturnType<typeof counts>> = await counts(places).catch((error: unknown) => {
    broken.push(`${messageOf(error)}; check its owner and mode`);
    return empty;
  });
  const inbox = {
    waiting: found.inbox,
    claimed: found.claimed,
    oldest: isoTime(found.oldestMs),
    quarantined: found.quarantined,
    quarantine_dir: places.quarantineDir,
    quarantine_newest: found.quarantined === 0 ? [] : await newestReasons(places.quarantineDir),
  };
  return { inbox, broken };
}

/** Files wait until a turn ends, and a turn can take long; longer than this no drain has come. */
const STALE_AFTER_MS = 24 * 3_600_000;

function staleRemark({ waiting, claimed, oldest }: Status["inbox"], nowMs: number): readonly string[] {
  const ageMs = oldest === null ? 0 : nowMs - Date.parse(oldest);
  if (waiting + claimed === 0 || ageMs < STALE_AFTER_MS) return [];
  return [`events wait for ${duration(ageMs)} and no drain has taken them: run openhook-otel drain`];
}

const REASONS_SHOWN = 3;
/** Of a reason file; ours have some hundred. */
const REASON_BYTES = 4096;
const REASON_CHARACTERS = 200;

const QuarantineReason = z.object({
  reason: z.string(),
  source: z.string().optional(),
  at: z.string().optional(),
});

async function newestReasons(dir: string): Promise<Status["inbox"]["quarantine_newest"]> {
  const names = (await readdir(dir).catch(() => [])).filter((name) => name.endsWith(".reason"));
  const dated = await Promise.all(
    names.map(async (name) => ({
      path: join(dir, name),
      ms: await stat(join(dir, name)).then(
        (found) => found.mtimeMs,
        () => 0,
      ),
    })),
  );
  const newest = dated.sort((a, b) => b.ms - a.ms).slice(0, REASONS_SHOWN);
  return Promise.all(
    newest.map(async ({ path, ms }) => {
      const told = QuarantineReason.safeParse(parsed(await firstBytes(path, REASON_BYTES))).data;
      return {
        source: told?.source ?? null,
        reason: told === undefined ? null : told.reason.slice(0, REASON_CHARACTERS),
        at: told?.at ?? isoTime(ms),
      };
    }),
  );
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/** The beginning of a file; empty when it cannot be read. */
const firstBytes = (path: string, bytes: number): Promise<string> => readPart(path, () => 0, bytes);

async function readPart(path: string, from: (size: number) => number, bytes: number): Promise<string> {
  const handle = await open(path, "r").catch(() => undefined);
  if (handle === undefined) return "";
  try {
    const { size } = await handle.stat();
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(bytes), 0, bytes, from(size));
    return buffer.toString("utf8", 0, bytesRead);
  } catch {
    return "";
  } finally {
    await handle.close();
  }
}

const LOG_TAIL_BYTES = 4096;
const LOG_LINES = 3;

async function logOf(path: string): Promise<Status["log"]> {
  const tail = await readPart(path, (size) => Math.max(0, size - LOG_TAIL_BYTES), LOG_TAIL_BYTES);
  const lines = tail.split("\n").filter((line) => line !== "");
  return { path, exists: existsSync(path), last_lines: lines.slice(-LOG_LINES) };
}

// The store

interface StoreFacts {
  readonly state: Status["store"]["state"];
  readonly sessions: number;
  readonly open: number;
  readonly waitingSpans: number;
  readonly lastDrain: LastDrain | null;
  readonly meta: (key: string) => string | undefined;
  readonly broken: readonly string[];
  readonly remarks: readonly string[];
}

const NO_STORE: StoreFacts = {
  state: "none",
  sessions: 0,
  open: 0,
  waitingSpans: 0,
  lastDrain: null,
  meta: () => undefined,
  broken: [],
  remarks: [],
};

const META_KEYS = ["traces", "metrics"].flatMap((signal) =>
  ["last_ok_ms", "last_reason", "not_before_ms"].map((name) => `${signal}.${name}`),
);

function storeOf({ places }: Context): StoreFacts {
  try {
    return readStore(places.storePath, factsOf) ?? NO_STORE;
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    const states = { E_STORE_DAMAGED: "damaged", E_STORE_NEWER: "newer", E_STORE: "unreadable" } as const;
    return { ...NO_STORE, state: states[error.code], broken: [adviceOn(error)] };
  }
}

function factsOf(db: Database): StoreFacts {
  const { sessions, open: openCount } = sessionCounts(db);
  const meta = new Map(META_KEYS.map((key) => [key, readMeta(db, key)]));
  return {
    state: "ok",
    sessions,
    open: openCount,
    waitingSpans: waitingCount(db),
    lastDrain: lastDrainOf(readMeta(db, "last_drain")),
    meta: (key) => meta.get(key),
    broken: [],
    remarks: [...missingTranscripts(db), ...unreadableRemark(db)],
  };
}

const number = z.number().default(0);
const DrainNote = z.object({
  atMs: z.number(),
  files: number,
  events: number,
  ignored: number,
  quarantined: number,
  left: number,
  transcriptLinesUnreadable: number,
  spans: number,
  sent: number,
  rejected: number,
  problems: z.array(z.string()).default([]),
});

function lastDrainOf(note: string | undefined): LastDrain | null {
  const told = note === undefined ? undefined : DrainNote.safeParse(parsed(note)).data;
  if (told === undefined) return null;
  const { atMs, transcriptLinesUnreadable, ...rest } = told;
  return { at: new Date(atMs).toISOString(), ...rest, transcript_lines_unreadable: transcriptLinesUnreadable };
}

/** Looked at on disk; more would make `status` slow and tell nothing new. */
const TRANSCRIPTS_CHECKED = 50;

/** Sessions that told of a transcript which was never there to be read. */
function missingTranscripts(db: Database): readonly string[] {
  const missing = sessionsWithoutTranscript(db, TRANSCRIPTS_CHECKED).filter(
    ({ transcriptPath }) => transcriptPath !== undefined && !existsSync(transcriptPath),
  );
  const [newest] = missing;
  if (newest === undefined) return [];
  const of = missing.length === 1 ? "a session" : plural(missing.length, "session");
  return [
    `the transcript of ${of} could not be read, so that tokens and model calls are unknown: ${newest.transcriptPath} is not there`,
  ];
}

function unreadableRemark(db: Database): readonly string[] {
  const { lines, files } = unreadableLines(db);
  return lines === 0
    ? []
    : [`${plural(lines, "transcript line")} in ${plural(files, "file")} could not be read; the rest of them was`];
}

// Delivery

function deliveryOf(
  signal: "traces" | "metrics",
  loaded: LoadedConfig,
  meta: StoreFacts["meta"],
  { platform, arch, now }: Context,
): Delivery {
  const settings = otlpSettings(loaded.config, { version: VERSION, instanceId: "", os: platform, arch });
  const url = settings[signal]?.url;
  const ms = (name: string): number => Number(meta(`${signal}.${name}`) ?? "0");
  const problem = meta(`${signal}.last_reason`);
  return {
    endpoint: url === undefined ? null : redactUrl(url),
    why_not_sent: url === undefined ? whyNotSent(signal, loaded) : null,
    last_ok: ms("last_ok_ms") > 0 ? isoTime(ms("last_ok_ms")) : null,
    last_problem: problem === undefined || problem === "" ? null : problem,
    not_before: ms("not_before_ms") > now() ? isoTime(ms("not_before_ms")) : null,
  };
}

function whyNotSent(signal: "traces" | "metrics", { config, sources }: LoadedConfig): string {
  if (sources.get(`otlp.${signal}.enabled`)?.kind === "withheld") return "not sent until the configuration is right";
  if (config.disabled) return "not sent: sending is switched off (disabled)";
  if (!config.otlp[signal].enabled) return `not sent: switched off (otlp.${signal}.enabled)`;
  return "no endpoint: the store alone is the destination";
}
