// A record of a kind that no reader knows, with token usage, for every agent whose transcripts are read.
import { appendFileSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import Libsql from "libsql";

/** What a record of an unknown kind is, in lines; some agents name the kind below `params`. */
export const UNKNOWN = {
  id: "x1",
  type: "paid_extra",
  method: "session/update",
  timestamp: "2026-11-27T10:00:00.000Z",
};
const PARAMS = { update: { sessionUpdate: "paid_extra" } };
export const USAGE = { input_tokens: 70_001, output_tokens: 7_003 };

export interface Planted {
  /** How the finding names it. */
  readonly found: string;
  /** Adds a record with usage to the session whose first file has this path. */
  add(path: string): void;
}

export const appendLine = (path: string, record: object): void => appendFileSync(path, `${JSON.stringify(record)}\n`);
export const LINE: Planted = {
  found: "paid_extra",
  add: (path) => appendLine(path, { ...UNKNOWN, params: PARAMS, usage: USAGE }),
};

// biome-ignore lint/suspicious/noExplicitAny: the files of several agents
type Any = any;
/** In a file that is one object. */
const inObject = (found: string, change: (object: Any) => void): Planted => ({
  found,
  add: (path) => {
    const object = JSON.parse(readFileSync(path, "utf8"));
    change(object);
    writeFileSync(path, JSON.stringify(object));
  },
});
const member = (found: string, value: object): Planted =>
  inObject(found, (object) => Object.assign(object, { paidExtra: value }));

/** In a database. @param sql with the record as its parameter */
const inDatabase = (sql: string, record: object, found = "paid_extra"): Planted => ({
  found,
  add: (path) => {
    const db = new Libsql(path, {});
    db.prepare(sql).run(JSON.stringify(record));
    db.close();
  },
});
const PART = { type: "paid_extra", usage: USAGE };
const inParts = (column: string): Planted =>
  inDatabase(
    `UPDATE messages SET ${column} = json_insert(${column}, '$[#]', json(?)) WHERE rowid = (SELECT max(rowid) FROM messages)`,
    PART,
  );
const OPENCODE: readonly Planted[] = [
  inDatabase(
    `INSERT INTO part (id, message_id, session_id, time_created, time_updated, data)
      SELECT 'prt_z', message_id, session_id, time_created, time_updated, ?1 FROM part ORDER BY id DESC LIMIT 1`,
    PART,
  ),
  inDatabase(
    `INSERT INTO message (id, session_id, time_created, time_updated, data)
      SELECT 'msg_z', session_id, time_created, time_updated, ?1 FROM message ORDER BY id DESC LIMIT 1`,
    { role: "paid_extra", time: { created: 1_796_000_000_000 }, tokens: { input: 70_001, output: 7_003 } },
  ),
];

/** In the journal of a chat of VS Code, which is beside the chat's older file. */
const inJournal = (found: string, k: readonly (string | number)[]): Planted => ({
  found,
  add: (path) => appendLine(path.replace(/\.json$/, ".jsonl"), { kind: 1, k, v: USAGE }),
});

/** For every agent whose transcripts are read: the places in which an unknown record can be. */
export const PLANTED: Readonly<Record<string, readonly Planted[]>> = {
  ...Object.fromEntries(
    ["claude-code", "codex", "copilot", "droid", "gemini-cli", "grok", "kimi", "pi", "qwen-code"].map((source) => [
      source,
      [LINE],
    ]),
  ),
  amp: [
    member("paidExtra.usage", { usage: USAGE }),
    inObject("messages.paid_extra.usage", (o) => o.messages.push({ role: "paid_extra", usage: USAGE })),
  ],
  auggie: [
    member("paidExtra", [USAGE, USAGE]),
    inObject("chatHistory.exchange.response_nodes.paid.usage", (o) =>
      o.chatHistory[0].exchange.response_nodes.push({ type: "paid", usage: USAGE }),
    ),
  ],
  "copilot-vscode": [
    inJournal("paidExtra", ["paidExtra"]),
    inJournal("requests.paidExtra", ["requests", 0, "paidExtra"]),
  ],
  cline: [inObject("paid_extra", (o) => o.messages.push({ id: "x", role: "paid_extra", usage: USAGE }))],
  crush: [inParts("parts")],
  goose: [inParts("content_json")],
  kilo: OPENCODE,
  opencode: OPENCODE,
  openhands: [
    {
      found: "PaidExtraEvent",
      add: (path) => {
        const folder = join(dirname(path), "events");
        const last = readdirSync(folder).sort().at(-1) ?? "";
        const number = Number(/^event-(\d+)/.exec(last)?.[1]) + 1;
        const id = "00000000-0000-4000-8000-0000000000aa";
        const { timestamp } = JSON.parse(readFileSync(join(folder, last), "utf8"));
        const event = { id, timestamp, kind: "PaidExtraEvent", source: "agent", usage: USAGE };
        writeFileSync(join(folder, `event-${String(number).padStart(5, "0")}-${id}.json`), JSON.stringify(event));
      },
    },
  ],
  vibe: [
    {
      found: "paid_extra",
      add: (path) => {
        const folder = join(dirname(path), "journal");
        LINE.add(join(folder, readdirSync(folder).sort().at(-1) ?? ""));
      },
    },
  ],
};
