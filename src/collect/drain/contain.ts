import { StateError } from "#config/file-owner.ts";
import { RuleError } from "#core/privacy/protection.ts";
import { messageOf } from "#kit/errors.ts";
import { reportProblem } from "#store/capture/context.ts";
import { StoreError } from "#store/database.ts";
import { addFailure, clearFailures, type FailedStep } from "#store/failures.ts";
import { findDamage } from "#store/salvage.lazy.ts";
import { sessionById } from "#store/sessions.ts";
import type { Drain } from "./context.ts";

/**
 * Does work for one session. An error is stored for this session and shown by `status` and `doctor`; other sessions are not
 * affected, and the next drain retries. The work itself removes earlier failures when it succeeds.
 *
 * @param failed returned in place of a result
 * @throws errors that affect every session: the store, the disk, a redaction rule, the state directory
 */
export async function contained<T>(
  drain: Drain,
  session: number,
  step: FailedStep,
  work: () => T | Promise<T>,
  failed: T,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (affectsAllSessions(error)) throw error;
    if (step === "read") drain.unreadSessions.add(session);
    const reason = noteFailure(drain, session, step, error);
    const { source, sessionId } = sessionById(drain.db, session);
    reportProblem(drain, `could not ${step} the session ${sessionId} (${source}): ${reason}; the next drain retries`);
    return failed;
  }
}

/**
 * Stores an error for a session, for `status` and `doctor`.
 *
 * @param path the file that was read; absent if the error concerns the whole session
 * @returns the reason as stored, without secrets
 * @throws the error, if damage to the store is the cause: the store is then replaced
 */
export function noteFailure(drain: Drain, session: number, step: FailedStep, error: unknown, path?: string): string {
  const { db } = drain;
  const reason = reasonOf(drain, messageOf(error));
  const isKnown = addFailure(db, session, { step, reason, path }, drain.now());
  // The check reads the whole store
  if (!isKnown && findDamage(db) !== undefined) throw error;
  return reason;
}

/** The message of an error as it may be stored: in one line, without secrets. */
export const reasonOf = ({ redactSecrets }: Pick<Drain, "redactSecrets">, message: string): string =>
  redactSecrets(message).replaceAll(/\s+/g, " ").slice(0, MAX_REASON);

/** Whether an error affects every session. */
export const affectsAllSessions = (error: unknown): boolean =>
  error instanceof StoreError || error instanceof RuleError || error instanceof StateError;

/**
 * Stores why the price of a session's call could not be calculated. Its cost stays unknown; nothing else is affected.
 *
 * @param error `undefined`: all prices of a session that was read as a whole could be calculated
 */
export function notePriceError(drain: Drain, session: number, error: string | undefined): void {
  if (error === undefined) clearFailures(drain.db, session, "price");
  else addFailure(drain.db, session, { step: "price", reason: reasonOf(drain, error) }, drain.now());
}

// --- internal ---

const MAX_REASON = 300;
