import { createHash } from "node:crypto";
import { copyFileSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { AuditRecord } from "#core/audit/record.ts";
import { verifyChain } from "#core/audit/verify.ts";
import { auditHead, auditLinks } from "#store/audit.ts";
import { type Database, filesOf, openDatabase, StoreError } from "#store/database.ts";
import { lostEvents } from "#store/self.ts";
import type { ReceivedLog, ReceivedPoint, ReceivedSpan, Receiver } from "../receiver/receiver.ts";
import { countersAndRows } from "../support/summary.ts";
import type { State } from "./world.ts";

/** Everything at the end, except what differs in each run: times of counting, ids of the instance. */
export interface Outcome {
  /** Spans and log records as JSON, by their ids. */
  readonly spans: ReadonlyMap<string, string>;
  /** How often each was received. */
  readonly times: ReadonlyMap<string, number>;
  /** Ids of those that were received twice with different bytes. */
  readonly changed: readonly string[];
  /** The last value of each stream at a backend. */
  readonly points: ReadonlyMap<string, string>;
  readonly instances: number;
  /** Sum of all token counts over all streams of all instances, as a query adds them up. */
  readonly tokens: number;
  /** By table. */
  readonly rows: Readonly<Record<string, readonly string[]>>;
  readonly waiting: { readonly inbox: number; readonly claimed: number; readonly outbox: number };
  /** Counted lost events. */
  readonly lost: number;
  /** Digests of quarantined payloads. */
  readonly quarantine: readonly string[];
}

/** @param receiver everything that was sent from this state directory */
export function outcomeOf(state: State, receiver: Pick<Receiver, "spans" | "logs" | "latestPoints">): Outcome {
  const { places } = state;
  const spans = new Map<string, string>();
  const times = new Map<string, number>();
  const changed: string[] = [];
  for (const record of [...receiver.spans, ...receiver.logs]) {
    const id = idOf(record);
    const text = textOf(withoutInstance(record));
    const known = spans.get(id);
    if (known !== undefined && known !== text) changed.push(id);
    spans.set(id, text);
    times.set(id, (times.get(id) ?? 0) + 1);
  }
  const points = receiver.latestPoints().filter((point) => !isOfItself(point));
  const counted = new Map<string, string>();
  for (const point of points) {
    const key = textOf([point.name, sorted(withoutInstance(point).resource), sorted(point.attributes)]);
    counted.set(key, textOf(point.data));
  }
  const instances = new Set([...receiver.spans, ...points].map((record) => record.resource[INSTANCE_ID]));
  const { rows, outbox, lost } = withCopy(state, (db) => ({
    rows: rowsOf(db),
    outbox: outboxOf(db).length,
    lost: lostEvents(db).total,
  }));
  return {
    spans,
    times,
    changed,
    points: counted,
    instances: instances.size,
    tokens: points.reduce(
      (sum, { name, data }) => sum + (name === TOKENS && data.kind === "sum" ? Number(data.value) : 0),
      0,
    ),
    rows,
    waiting: { inbox: namesIn(places.inboxDir).length, claimed: namesIn(places.claimedDir).length, outbox },
    lost,
    quarantine: namesIn(places.quarantineDir)
      .filter((name) => !name.endsWith(".reason"))
      .map((name) => digest(join(places.quarantineDir, name)))
      .sort(),
  };
}

/** The id of a span, or of a log record. */
export const idOf = (record: ReceivedSpan | ReceivedLog): string => String(record.attributes[LOG_UID] ?? record.spanId);

/** Ids of queued spans and log records; none without a readable store. */
export function waitingIn(state: State): readonly string[] {
  try {
    return withCopy(state, outboxOf);
  } catch (error) {
    if (error instanceof StoreError) return [];
    throw error;
  }
}

/** The counters, and the sums over the rows that they count. */
export const countersAndRowsIn = (state: State): ReturnType<typeof countersAndRows> =>
  withCopyOf(state, countersAndRows);

/** Quarantined payloads without a reason. */
export const withoutReason = ({ places }: State): readonly string[] =>
  namesIn(places.quarantineDir).filter(
    (name) => !name.endsWith(".reason") && !existsSync(join(places.quarantineDir, `${name}.reason`)),
  );

// --- internal ---

const TOKENS = "openhook.token.usage";
const INSTANCE_ID = "service.instance.id";
const LOG_UID = "log.record.uid";

/** The program's own metrics: the numbers of drains and requests differ. */
const OF_ITSELF = "openhook.collector.";
const isOfItself = ({ name }: ReceivedPoint): boolean => name.startsWith(OF_ITSELF);

const withoutInstance = <T extends Pick<ReceivedSpan, "resource">>(record: T): T => ({
  ...record,
  resource: Object.fromEntries(Object.entries(record.resource).filter(([name]) => name !== INSTANCE_ID)),
});

const sorted = (attributes: ReceivedPoint["attributes"]) =>
  Object.entries(attributes).sort(([a], [b]) => (a < b ? -1 : 1));

const textOf = (value: unknown): string =>
  JSON.stringify(value, (_key, held: unknown) => (typeof held === "bigint" ? `${held}n` : held));

const namesIn = (dir: string): readonly string[] => (existsSync(dir) ? readdirSync(dir) : []);

const digest = (path: string): string => createHash("sha256").update(readFileSync(path)).digest("hex");

/** Reading must not recover the store after a kill: that is for the next drain. */
const withCopy = <T>(state: State, look: (db: Database) => T): T =>
  withCopyOf(state, (path) => {
    const db = openDatabase(path);
    try {
      return look(db);
    } finally {
      db.close();
    }
  });

function withCopyOf<T>(state: State, look: (path: string) => T): T {
  const dir = mkdtempSync(join(tmpdir(), "openhook-look-"));
  try {
    const copy = join(dir, "store.db");
    const from = filesOf(state.places.storePath);
    for (const [i, to] of filesOf(copy).slice(0, 2).entries()) {
      const path = from[i];
      if (path !== undefined && existsSync(path)) copyFileSync(path, to);
    }
    return look(copy);
  } finally {
    rmSync(dir, { recursive: true, force: true, maxRetries: 10 });
  }
}

const outboxOf = (db: Database): readonly string[] =>
  db
    .prepare(
      `SELECT json_extract(s.record, '$.spanId') AS id FROM outbox o JOIN spans s ON s.seq = o.seq
       UNION ALL SELECT coalesce(json_extract(o.body, '$.attributes."${LOG_UID}"'), json_extract(s.record, '$.spanId') || '/' || o.part)
         FROM log_outbox o LEFT JOIN spans s ON s.seq = o.span`,
    )
    .all()
    .map((row) => String(row["id"]));

/** Values that the program stores for itself, are checked elsewhere, or are random. */
const NOT_COMPARED: ReadonlySet<string> = new Set([
  "meta",
  "outbox",
  "log_outbox",
  "taken",
  "bridge_commands",
  "bridge_queue",
]);
/** The store's own numbers, and times of counting and sending. */
const OF_EACH_RUN: Readonly<Record<string, RegExp>> = {
  sessions: /^id$/,
  spans: /^seq$/,
  native_records: /^received_ms$/,
  audit: /^(seq|time_ms|names|texts|hash)$/,
  counters: /^(id|start_ms|sent_ms|sent_value|sent_histogram|changed|changed_ms)$/,
};

function rowsOf(db: Database): Outcome["rows"] {
  const sessions = new Map(
    db
      .prepare("SELECT id, source, session_id FROM sessions")
      .all()
      .map((row) => [row["id"], `${row["source"]} ${row["session_id"]}`]),
  );
  const tables = db
    .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name")
    .all()
    .map((row) => String(row["name"]))
    .filter((name) => !NOT_COMPARED.has(name));
  const rows = Object.fromEntries(
    tables.map((table) => [
      table,
      db
        .prepare(`SELECT * FROM ${table}`)
        .all()
        .filter((row) => !String(row["metric"] ?? "").startsWith(OF_ITSELF))
        .map((row) =>
          textOf(
            Object.entries(row).flatMap(([name, value]) => {
              if (name === "session" || name === "parent") return [[name, sessions.get(value) ?? value]];
              if (table === "audit" && name === "record") return [[name, actionIn(String(value))]];
              return OF_EACH_RUN[table]?.test(name) === true ? [] : [[name, value]];
            }),
          ),
        )
        .sort(),
    ]),
  );
  return { ...rows, audit_chain: [textOf(verifyChain(auditLinks(db), [auditHead(db)]).ok)] };
}

/** A record of the audit trail without its place in the chain and its salted digests. */
function actionIn(record: string): string {
  const { seq: _, parts: __, ...action } = JSON.parse(record) as AuditRecord;
  return JSON.stringify(action);
}
