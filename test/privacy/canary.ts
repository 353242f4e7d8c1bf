import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { preview } from "#commands/preview.ts";
import { sessions } from "#commands/sessions.ts";
import { show } from "#commands/show.ts";
import { status } from "#commands/status.ts";
import type { CaptureLevel } from "#core/model/capture.ts";
import { openDatabase } from "#store/database.ts";
import type { Receiver } from "../receiver/receiver.ts";
import { contextAt } from "../support/context.ts";
import { CASES, Replay } from "../support/replay.ts";
import { CANARY, foundIn, Planter, SECRET } from "./plant.ts";

/** Every recorded case by agent. */
export const recordedCases = (): readonly (readonly [source: string, name: string])[] =>
  readdirSync(CASES).flatMap((source) =>
    statSync(join(CASES, source)).isDirectory()
      ? readdirSync(join(CASES, source))
          .filter((name) => existsSync(join(CASES, source, name, "hooks.jsonl")))
          .map((name) => [source, name] as const)
      : [],
  );

export interface CanaryRun {
  /** Canaries found where they must not be. */
  readonly findings: readonly string[];
  readonly planted: number;
  readonly spans: number;
  /** Texts with a canary that arrived, at levels that allow them. */
  readonly arrived: number;
}

/** Plants canaries in all texts of a case, runs its hooks and a drain, and searches everything that remains. */
export async function canaryRun(
  source: string,
  name: string,
  level: CaptureLevel,
  receiver: Receiver,
): Promise<CanaryRun> {
  const planter = new Planter();
  const replay = new Replay(source, name, { edit: (text, path) => planter.plantText(text, path) });
  receiver.clear();
  try {
    const secret = `${SECRET}999`;
    for (const call of replay.calls) {
      replay.put({ ...call, env: { ...call.env, AWS_ACCESS_KEY_ID: secret, MY_NOTE: `${CANARY}-env` } });
    }
    replay.env = {
      OPENHOOK_OTEL_OTLP_ENDPOINT: receiver.url,
      OPENHOOK_OTEL_CAPTURE: level,
      OPENHOOK_OTEL_AUDIT_ENABLED: "true",
    };
    const log: string[] = [];
    const report = await replay.drain({ endIdle: true }, { log: (line) => log.push(line), sleep: async () => {} });
    const needles = level === "redacted" ? [SECRET] : [SECRET, CANARY];
    const sent = receiver.requests.map(({ body, headers }) => `${JSON.stringify(headers)}\n${body.toString("latin1")}`);
    const findings = [
      ...foundIn("sent", sent.join("\n"), needles),
      ...foundIn("log", log.join("\n"), [SECRET, CANARY]),
      ...foundIn("report", JSON.stringify(report), [SECRET, CANARY]),
      ...inStore(replay, needles),
      ...inFiles(replay, needles),
      ...(await inCommands(replay, needles)),
    ];
    const arrived = sent.join().split(CANARY).length - 1;
    return { findings, planted: planter.texts + planter.names, spans: receiver.spans.length, arrived };
  } finally {
    replay.remove();
  }
}

// --- internal ---

function inStore({ places }: Replay, needles: readonly string[]): readonly string[] {
  const db = openDatabase(places.storePath);
  try {
    const tables = db.prepare("SELECT name FROM sqlite_master WHERE type = 'table'").all();
    return tables.flatMap(({ name }) =>
      foundIn(
        `table ${name}`,
        db
          .prepare(`SELECT * FROM "${name}"`)
          .all()
          .map((row) => JSON.stringify(row))
          .join("\n"),
        needles,
      ),
    );
  } finally {
    db.close();
  }
}

/** Searches the bytes, which include deleted but not overwritten pages and the write-ahead log. */
function inFiles({ places }: Replay, needles: readonly string[]): readonly string[] {
  return readdirSync(places.stateDir, { recursive: true, encoding: "utf8" })
    .map((name) => join(places.stateDir, name))
    .filter((path) => statSync(path).isFile() && !path.startsWith(places.quarantineDir))
    .flatMap((path) => foundIn(path, readFileSync(path, "latin1"), needles));
}

async function inCommands(replay: Replay, needles: readonly string[]): Promise<readonly string[]> {
  const output = async (
    run: (context: ReturnType<typeof contextAt>["context"]) => Promise<number>,
  ): Promise<string> => {
    const { context, out, err } = contextAt(replay.places, { env: replay.env });
    await run(context);
    return out() + err();
  };
  const listed = await output((context) => sessions({ json: true, limit: 20 }, context));
  const ids = (JSON.parse(listed) as readonly { readonly session_id: string }[]).map((one) => one.session_id);
  const texts: [string, string][] = [
    ["sessions", listed],
    ["status", await output((context) => status({ json: true }, context))],
    ["preview", await output((context) => preview(undefined, { json: false }, context))],
  ];
  for (const id of ids.slice(0, 2)) {
    texts.push(
      ["show", await output((context) => show(id, { json: false, envelopes: false }, context))],
      ["show --json", await output((context) => show(id, { json: true, envelopes: false }, context))],
      ["show --envelopes", await output((context) => show(id, { json: false, envelopes: true }, context))],
    );
  }
  return texts.flatMap(([what, text]) => foundIn(what, text, needles));
}
