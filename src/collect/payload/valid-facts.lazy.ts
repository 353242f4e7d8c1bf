import { FileWriteEvent } from "#core/model/envelope.ts";
import { Event } from "#core/model/event-schema.ts";
import { TranscriptEntry } from "#core/model/transcript.ts";
import { parseOptions } from "#kit/parse-options.ts";

/** The member that the store would not accept, never its value; `undefined`: all are valid. */
export function invalidMember(events: readonly Event[], entries: readonly TranscriptEntry[]): string | undefined {
  for (const [schema, values] of [[Event, events] as const, [TranscriptEntry, entries] as const]) {
    for (const value of values) {
      const parsed = schema.safeParse(value, parseOptions());
      if (!parsed.success) return `${pathIn(parsed.error.issues)} is not valid`;
    }
  }
  return undefined;
}

/** Whether an event that an agent's patch was made into can be stored. */
export function isFileWrite(event: unknown): boolean {
  return FileWriteEvent.safeParse(event, parseOptions()).success;
}

// --- internal ---

interface Issue {
  readonly path: readonly PropertyKey[];
  /** The issues of each member of a union. */
  readonly errors?: readonly (readonly Issue[])[];
}

/** The deepest path: in a union, the member that fits best fails deepest. */
function pathIn(issues: readonly Issue[]): string {
  const paths = issues.flatMap((issue) => [issue.path, ...(issue.errors ?? []).flat().map(({ path }) => path)]);
  const deepest = paths.reduce((a, b) => (b.length > a.length ? b : a), []);
  return deepest.length === 0 ? "its result" : deepest.map(String).join(".");
}
