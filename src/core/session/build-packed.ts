import { ENDED_IDLE, NOTHING_SETTLED, type Session, type SessionFacts } from "../model/session.ts";
import type { TranscriptEntry } from "../model/transcript.ts";
import { buildSession } from "./build.ts";

/** Builds a past session from its transcript entries alone. Pure; see `buildSession`. */
export const buildPacked = (
  facts: SessionFacts,
  entries: readonly TranscriptEntry[],
  expectsTranscript: boolean,
): Session =>
  buildSession({ facts, events: [], entries, context: NOTHING_SETTLED, expectsTranscript, endIdle: ENDED_IDLE });
