import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { preview } from "#commands/preview.ts";
import { VERSION } from "#kit/version.ts";
import { openDatabase } from "#store/database.ts";
import { type Receiver, startReceiver } from "../receiver/receiver.ts";
import { contextAt } from "../support/context.ts";
import { PLATFORM, Replay } from "../support/replay.ts";

let receiver: Receiver;
let replay: Replay;
let env: Record<string, string>;
/** Clock of the next drain, since metrics carry the time of sending. Close to the receiver's clock, so that it is not corrected. */
const nowMs = Date.now();

beforeAll(async () => {
  receiver = await startReceiver();
  replay = new Replay("claude-code", "parallel-tools");
  for (const call of replay.calls) replay.put(call);
  env = {
    OPENHOOK_OTEL_OTLP_ENDPOINT: receiver.url,
    OPENHOOK_OTEL_OTLP_PROTOCOL: "http/json",
    OPENHOOK_OTEL_OTLP_HEADERS: "authorization=Bearer s3cret",
    OPENHOOK_OTEL_OTLP_MAX_SPANS_PER_REQUEST: "5",
    OPENHOOK_OTEL_SELF_TELEMETRY: "false",
    OPENHOOK_OTEL_CAPTURE: "redacted",
  };
  replay.env = env;
});
afterAll(async () => {
  replay.remove();
  await receiver.close();
});

const look = async (session: string | undefined, json: boolean): Promise<string> => {
  const { context, out } = contextAt(replay.places, { env, now: () => nowMs, platform: PLATFORM });
  expect(await preview(session, { json }, context)).toBe(0);
  return out();
};

describe("preview", () => {
  test("of everything equals byte for byte the later delivery, and sends nothing", async () => {
    const bodies = (await look(undefined, true)).trimEnd().split("\n");
    expect(receiver.requests).toEqual([]);
    expect(bodies.length).toBeGreaterThan(3);
    expect(await look(undefined, true)).toBe(`${bodies.join("\n")}\n`);

    await replay.drain({ isEager: true }, { now: () => nowMs, version: VERSION });
    const sent = receiver.requests.map(({ body }) => body.toString("utf8"));
    expect(sent.length).toBe(bodies.length);
    expect(sent.filter((body) => !bodies.includes(body)).map((body) => body.slice(0, 200))).toEqual([]);
    expect(await look(undefined, false)).toContain("metric");
  });

  test("of a session has all of its spans and no others", async () => {
    const other = new Replay("claude-code", "two-sessions-at-once");
    try {
      for (const call of other.calls) other.put(call);
      const { context, out } = contextAt(other.places, { now: () => nowMs });
      await preview(undefined, { json: true }, context);
      const all = spansIn(out());
      const ids = [...new Set(all.map(({ session }) => session))];
      expect(ids.length).toBeGreaterThan(1);
      const one = contextAt(other.places, { now: () => nowMs });
      await preview(ids[0], { json: true }, one.context);
      const own = spansIn(one.out());
      expect(own).toEqual(all.filter(({ session }) => session === ids[0]));
      expect(one.out()).not.toContain("resourceMetrics");

      const human = contextAt(other.places, { now: () => nowMs, columns: 100 });
      await preview(ids[0], { json: false }, human.context);
      expect(human.out()).toContain("not sent: no endpoint is set");
      expect(human.out()).toMatch(/gen_ai\.conversation\.id = /);
      await expect(preview("nobody", { json: true }, at(other).context)).rejects.toThrow(
        /no session begins with "nobody"; .*the newest is "/,
      );
    } finally {
      other.remove();
    }
  });

  test("shows neither escapes nor credentials", async () => {
    const db = openDatabase(replay.places.storePath);
    const row = db.prepare("SELECT seq, record FROM spans LIMIT 1").get();
    const record = JSON.parse(String(row?.["record"])) as { attributes: Record<string, unknown> };
    record.attributes["evil"] = "a\u001b[31mb\nc";
    db.prepare("UPDATE spans SET record = ? WHERE seq = ?").run(JSON.stringify(record), Number(row?.["seq"]));
    db.prepare("INSERT INTO outbox (seq, bytes) VALUES (?, 1)").run(Number(row?.["seq"]));
    db.close();
    const shown = await look(undefined, false);
    expect(shown).toContain("evil = a\\x1b[31mb\\x0ac");
    expect(shown).toContain("header authorization: ***");
    expect(shown).not.toContain("s3cret");
    expect(shown).not.toContain("\u001b");
  });
});

// --- internal ---

const at = (replay: Replay) => contextAt(replay.places, { now: () => nowMs });

interface Span {
  readonly spanId: string;
  readonly attributes: readonly { readonly key: string; readonly value: { readonly stringValue?: string } }[];
}

function spansIn(lines: string): readonly { readonly id: string; readonly session: string }[] {
  return lines
    .trimEnd()
    .split("\n")
    .flatMap((line) => {
      const { resourceSpans = [] } = JSON.parse(line) as {
        resourceSpans?: readonly { readonly scopeSpans: readonly { readonly spans: readonly Span[] }[] }[];
      };
      return resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans));
    })
    .map(({ spanId, attributes }) => ({
      id: spanId,
      session: attributes.find(({ key }) => key === "session.id")?.value.stringValue ?? "",
    }));
}
