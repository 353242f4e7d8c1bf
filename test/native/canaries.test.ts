import { describe, expect, test } from "vitest";
import { findAgent } from "#agents/registry.ts";
import { type NativeBytes, nativeRecords } from "#collect/native/records.ts";
import type { NativeRule, NativeTable } from "#core/model/native-table.ts";
import { documentsIn, type Json, RECORDINGS, rawRecordsOf } from "./recorded.ts";

const CANARY = "CANARY the user's secret";
/** The members of a record that are no content: ids, times, and names, by which it is found in the table. */
const NO_CONTENT = /^(?:traceId|spanId|parentSpanId|\w*time\w*|name|key)$/i;

const planted = RECORDINGS.filter(({ bodies }) => bodies.every(({ encoding }) => encoding !== "proto"));

describe.each(planted)("$source $name", ({ source, bodies }) => {
  test("no text that the table does not name is in what is kept, wherever it stands", async () => {
    const table = await tableOf(source);
    let canaries = 0;
    for (const body of bodies) {
      const withCanaries = replant(body, (path, text) => {
        if (isAllowed(path, table)) return text;
        canaries++;
        return CANARY;
      });
      expect(await nativeRecords(source, withCanaries)).toEqual(await nativeRecords(source, body));
    }
    expect(canaries).toBeGreaterThan(20);
  });

  test("nor is a sentence in an attribute that the table names", async () => {
    const table = await tableOf(source);
    for (const body of bodies) {
      const withCanaries = replant(body, (path, text) =>
        isAllowed(path, table) && isWord(path, table) ? CANARY : text,
      );
      const { records } = await nativeRecords(source, withCanaries);
      expect(JSON.stringify(records)).not.toContain("CANARY");
      expect(JSON.stringify(records)).not.toContain("secret");
    }
  });
});

test("texts, also in ids and numbers, are refused if they are long or no word", async () => {
  const texts = ["two words", "x".repeat(101), "line\nbreak", "<b>", "ä", ""];
  for (const text of texts) {
    const attributes = Object.entries({
      ...{ "session.id": "s-1", "event.name": "tool_decision", tool_use_id: "toolu_1" },
      ...{ decision: text, source: text },
    }).map(([key, stringValue]) => ({ key, value: { stringValue } }));
    const logRecords = [{ timeUnixNano: "1795883198881000000", attributes }];
    const bytes = Buffer.from(JSON.stringify({ resourceLogs: [{ scopeLogs: [{ logRecords }] }] }));
    const body: NativeBytes = { signal: "logs", encoding: "json", isGzip: false, bytes };
    expect(await nativeRecords("claude-code", body)).toEqual({ records: [], dropped: 1 });
  }
});

test("canaries that were kept would be found", () => {
  const [body] = RECORDINGS.find(({ source, name }) => source === "codex" && name === "extended")?.bodies ?? [];
  if (body === undefined) throw new Error("no recording");
  const everywhere = replant(body, ({ member = "" }, text) => (NO_CONTENT.test(member) ? text : CANARY));
  expect(JSON.stringify(rawRecordsOf(everywhere))).toContain("CANARY");
});

// --- internal ---

async function tableOf(source: string): Promise<NativeTable> {
  const table = (await (await findAgent(source))?.native?.())?.default;
  if (table === undefined) throw new Error(`${source} has no table`);
  return table;
}

/** Where a text stands: the name of its attribute, otherwise the member of the record. */
interface Path {
  readonly attribute?: string;
  readonly member?: string;
}

function isAllowed({ attribute, member }: Path, table: NativeTable): boolean {
  if (attribute === undefined) return NO_CONTENT.test(member ?? "");
  return attribute === "event.name" || table.session.includes(attribute) || attributesOf(table).has(attribute);
}

const isWord = ({ attribute = "" }: Path, table: NativeTable): boolean =>
  attribute !== "event.name" && !table.session.includes(attribute) && attributesOf(table).has(attribute);

/** All that any rule of a table names, wherever it is in the rule. */
function attributesOf(table: NativeTable): ReadonlySet<string> {
  const rules = [...Object.values(table.spans), ...Object.values(table.logs)];
  const all = rules.flatMap((rule: NativeRule) => [rule, ...Object.values(rule.events ?? {})]);
  const names = all.flatMap(({ ids = {}, facts = {}, only }) => [
    ...Object.values(ids),
    ...textsIn(facts),
    ...(only === undefined ? [] : [only.of]),
  ]);
  return new Set([...names, ...(table.sequence ?? [])].map((name) => name.replace(/^-/, "")));
}

function textsIn(value: unknown): readonly string[] {
  if (typeof value === "string") return [value];
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([name, member]) => (name === "as" || name === "unit" ? [] : textsIn(member)));
}

/** The body with each text replaced. */
function replant(body: NativeBytes, replace: (path: Path, text: string) => string): NativeBytes {
  const text = body.bytes.toString();
  const walked = (value: Json, path: Path): Json => {
    if (typeof value === "string") return replace(path, value);
    if (Array.isArray(value)) return value.map((item) => walked(item, path));
    if (typeof value !== "object" || value === null) return value;
    const attribute = typeof value.key === "string" && "value" in value ? value.key : path.attribute;
    return Object.fromEntries(
      Object.entries(value).map(([name, member]) => [name, walked(member, memberOf({ name, attribute, path }))]),
    );
  };
  const bytes =
    body.encoding === "file"
      ? documentsIn(text).map((document) => `${JSON.stringify(walked(document, {}))}\n`)
      : [JSON.stringify(walked(JSON.parse(text), {}))];
  return { ...body, bytes: Buffer.from(bytes.join("")) };
}

/** A file exporter writes attributes as an object, OTLP as pairs of key and value. */
function memberOf({ name, attribute, path }: { name: string; attribute: string | undefined; path: Path }): Path {
  if (name === "intValue" || name === "key") return { member: "key" };
  if (attribute !== undefined) return { attribute };
  return path.member === "attributes" ? { attribute: name } : { member: name };
}
