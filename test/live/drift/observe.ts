// What an agent sent and wrote, as names and types: `npm run drift` compares two of these.
import { copyFileSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import type Libsql from "libsql";
import { parseInboxFile } from "#collect/intake/inbox-file.ts";
import { decodeEvent } from "#collect/intake/payload.ts";
import { nativeEvent } from "#collect/payload/drift.ts";
import type { Agent } from "#core/model/agent.ts";
import type { IntakeFacts } from "#core/model/intake-facts.ts";

/** One payload with what the intake knew. */
export interface Sent {
  readonly payload: object;
  readonly facts: IntakeFacts;
}

/** Payloads by event. */
export type SentByEvent = ReadonlyMap<string, readonly Sent[]>;

/** Groups payloads by the names that the card gives their events. */
export function byEvent({ known }: Pick<Agent, "known">, sent: readonly Sent[]): SentByEvent {
  const found = new Map<string, Sent[]>();
  for (const one of sent) {
    const event = (known === undefined ? undefined : nativeEvent(known, one.payload, one.facts)) ?? "(no name)";
    found.set(event, [...(found.get(event) ?? []), one]);
  }
  return found;
}

/** Payloads that a live run kept, of one folder with inbox files. */
export function keptPayloads(folder: string): readonly Sent[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .sort((a, b) => Number.parseInt(a, 10) - Number.parseInt(b, 10))
    .flatMap((name) => {
      const parsed = parseInboxFile(readFileSync(join(folder, name)), 0);
      const decoded = parsed.ok ? decodeEvent(parsed.payload, parsed.facts) : undefined;
      return parsed.ok && decoded?.ok === true && isObject(decoded.value)
        ? [{ payload: decoded.value, facts: parsed.facts }]
        : [];
    });
}

/** The recordings of an agent: their payloads, and the session files that belong to them. */
export function recordingsIn(
  folder: string,
): readonly { readonly name: string; readonly sent: readonly Sent[]; readonly files: string }[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((name) => existsSync(join(folder, name, "hooks.jsonl")))
    .map((name) => ({
      name,
      files: join(folder, name, "transcripts"),
      sent: readFileSync(join(folder, name, "hooks.jsonl"), "utf8")
        .split("\n")
        .map(parsed)
        .flatMap((call) =>
          isObject(call) && isObject(call["stdin"])
            ? [{ payload: call["stdin"], facts: recordedFacts(basename(folder), call) }]
            : [],
        ),
    }));
}

/** Names in session files: record kinds with their members, or tables with their columns. */
export type FileNames = ReadonlyMap<string, ReadonlySet<string>>;

/** The names in all session files below a folder. Files of other formats have none. */
export function namesInFiles(folder: string): FileNames {
  const found = new Map<string, Set<string>>();
  const add = (kind: string, names: Iterable<string>): void => {
    found.set(kind, new Set([...(found.get(kind) ?? []), ...names]));
  };
  for (const path of filesBelow(folder)) {
    if (/\.jsonl$/.test(path)) {
      for (const line of readFileSync(path, "utf8").split("\n")) addRecord(add, parsed(line));
    } else if (/\.json$/.test(path)) {
      const value = parsed(readFileSync(path, "utf8"));
      if (isObject(value)) add(fileKind(path), plainNames(value));
    } else if (/\.db$/.test(path)) {
      for (const [table, columns] of columnsIn(path)) add(`table ${table}`, columns);
    }
  }
  return found;
}

// --- internal ---

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const recordedFacts = (source: string, { event, env }: Record<string, unknown>): IntakeFacts => ({
  source,
  ...(typeof event === "string" && { event }),
  env: isObject(env) ? (env as Record<string, string>) : {},
  timeMs: 0,
  payloadBytes: 2,
  truncated: false,
});

/** Names of members that are maps by ids have no meaning. */
const plainNames = (value: object): readonly string[] =>
  Object.keys(value).filter((name) => /^[A-Za-z_][\w-]{0,39}$/.test(name) && !/\d{3}/.test(name));

function addRecord(add: (kind: string, names: Iterable<string>) => void, record: unknown): void {
  if (!isObject(record)) return;
  const inner = ["payload", "data", "message"].map((name) => record[name]).find(isObject);
  const kinds = [record["type"], inner?.["type"] ?? inner?.["role"]].filter((kind) => typeof kind === "string");
  const kind = `record ${kinds.join("/") || "(no type)"}`;
  add(kind, plainNames(record));
  if (inner !== undefined) add(`${kind}, inner`, plainNames(inner));
}

/** A file's name without ids: `<id>.settings.json` is one kind of file. */
const fileKind = (path: string): string => `file ${basename(path).replace(/[0-9a-f][\w-]{7,}/gi, "*")}`;

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Tables with their columns. Reads a copy: opening a database with a log changes both files. */
function columnsIn(path: string): readonly (readonly [string, readonly string[]])[] {
  const folder = mkdtempSync(join(tmpdir(), "openhook-drift-db-"));
  try {
    const copy = join(folder, "copy.db");
    for (const suffix of ["", "-wal"].filter((end) => existsSync(`${path}${end}`))) {
      copyFileSync(`${path}${suffix}`, `${copy}${suffix}`);
    }
    // The script that bundles this file runs in the repository, but from a temporary folder
    const Database = createRequire(join(process.cwd(), "package.json"))("libsql") as typeof Libsql;
    const db = new Database(copy);
    const tables = db.prepare("SELECT name FROM sqlite_master WHERE type = 'table'").all() as { name: string }[];
    const columns = tables.map(({ name }) => {
      const rows = db.prepare(`SELECT name FROM pragma_table_info('${name.replaceAll("'", "''")}')`).all();
      return [name, (rows as { name: string }[]).map((row) => row.name)] as const;
    });
    db.close();
    return columns;
  } catch {
    return [];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function filesBelow(folder: string): readonly string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}
