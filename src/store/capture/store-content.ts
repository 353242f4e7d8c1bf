import type { CaptureLevel } from "#core/model/capture.ts";
import type { ContentUpdate } from "#core/model/content.ts";
import { keepsContent, keepsContentUnredacted } from "#core/rules/capture.ts";
import { PENDING } from "#core/rules/keys.ts";
import { claimContent, putContent } from "../content.ts";
import type { StoredSession } from "../sessions.ts";
import type { CaptureContext } from "./context.ts";
import { truncateContent } from "./truncate-content.ts";

/** Content → store, if the level keeps content. Call it after its facts are stored, in the same transaction. */
export function storeContent(
  drain: CaptureContext,
  session: StoredSession,
  updates: readonly ContentUpdate[],
  level: CaptureLevel,
): void {
  if (!keepsContent(level)) return;
  const { db, redact } = drain;
  const limits = {
    maxBytes: drain.loaded.config.captureMaxBytes,
    ...(!keepsContentUnredacted(level) && { redact }),
  };
  for (const one of updates) {
    if ("claims" in one) {
      claimContent(db, session.id, one.claims, one.fact);
      continue;
    }
    const kept = truncateContent(one.value, limits);
    if (kept === undefined) continue;
    const { fact, part, piece = "" } = one;
    putContent(db, session.id, { fact, part, piece, ...kept }, fact.startsWith(PENDING));
  }
}
