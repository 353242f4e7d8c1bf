import type { NativeRecord } from "#core/model/native.ts";
import { redactNames } from "#core/privacy/records.ts";
import { keepsNames } from "#core/rules/capture.ts";
import { unjoinedCount } from "#core/telemetry/native.ts";
import { METRIC_SHAPES } from "#core/telemetry/shapes.ts";
import { messageOf } from "#kit/errors.ts";
import { reportProblem } from "#store/capture/context.ts";
import { countFacts } from "#store/counters.ts";
import { addToMeta, NATIVE_DROPPED } from "#store/meta.ts";
import { putNative, sessionsWithNative, takeForeignNative } from "#store/native.ts";
import { pendingNative } from "../native/pending.ts";
import { NativeFormatError, nativeRecords } from "../native/records.ts";
import type { Drain } from "./context.ts";

/**
 * Agents' own telemetry → store: what is allowed of it. A body is removed, or queued for `native.forward`, after its records are
 * committed; one that cannot be read is kept aside.
 *
 * @returns numbers of the sessions with records that are not on a span yet
 */
export async function readNative(drain: Drain): Promise<readonly number[]> {
  const { db, now, places, loaded } = drain;
  const { forward } = loaded.config.native;
  for await (const body of pendingNative(places.stateDir, (source) => forward[source] !== undefined)) {
    try {
      const { records, dropped } = await nativeRecords(body.source, body);
      db.transaction(() => {
        putNative(
          db,
          body.source,
          records.map((record) => withoutNames(drain, record)),
          now(),
        );
        addToMeta(db, NATIVE_DROPPED, dropped);
      }, "commit.native");
      await body.done();
    } catch (error) {
      if (!(error instanceof NativeFormatError)) throw error;
      reportProblem(drain, `could not read telemetry of ${body.source} itself: ${messageOf(error)}`);
      await body.reject(error.message);
    }
  }
  db.transaction(() => {
    const foreign = takeForeignNative(db, now() - FOREIGN_AFTER_MS);
    countFacts(
      db,
      foreign.map(({ source, sessionId, key }) => unjoinedCount(source, sessionId, key)),
      METRIC_SHAPES,
      now(),
    );
  });
  return sessionsWithNative(db, SESSIONS);
}

// --- internal ---

/** Sessions that hooks or transcripts do not report within a day are not collected. */
const FOREIGN_AFTER_MS = 86_400_000;
/** At most this many sessions are built again for records. */
const SESSIONS = 50;

function withoutNames({ loaded, redactName }: Drain, record: NativeRecord): NativeRecord {
  const facts = redactNames(record.facts, redactName);
  return {
    ...record,
    facts:
      facts.connection === undefined || keepsNames(loaded.config.capture)
        ? facts
        : { ...facts, connection: { ...facts.connection, server: "mcp" } },
  };
}
