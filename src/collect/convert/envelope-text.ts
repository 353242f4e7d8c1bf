import type { OwnNames } from "#core/model/agent.ts";
import type { CaptureLevel } from "#core/model/capture.ts";
import type { Envelope } from "#core/model/envelope.ts";
import type { EnvelopeText } from "#core/model/envelope-types.ts";
import type { Event } from "#core/model/event-schema.ts";
import { keepsContent, keepsNames } from "#core/rules/capture.ts";
import { isEnvelope } from "#core/rules/event.ts";
import { fileUriOf } from "#kit/file-uri.ts";
import { stripEventNames } from "#store/capture/names.ts";

/** How an envelope is written. */
interface EnvelopeForm {
  /** The text of OpenHook v0.1, setting `openhook.text`. */
  readonly text: EnvelopeText;
  /**
   * How much it may contain. `none`: no folders, files and names of users, and no `file.write`; `metadata`: what the specification
   * names and nothing else; from `redacted` on also `extensions`. No level adds prompts, arguments or results.
   */
  readonly level: CaptureLevel;
  /** Built-in names of the event's agent, from its card; only used at `none`. @default all names count as the user's */
  readonly own?: OwnNames | undefined;
}

/** An envelope in one of the two texts, ready for `JSON.stringify`; members in the order of the specification. */
export type WrittenEnvelope = Readonly<Record<string, unknown>> & Pick<Envelope, "id" | "type" | "source" | "time">;

/**
 * Writes a stored event as an OpenHook v0.1 envelope in one of its two texts. Pure: the same event and form give the same envelope,
 * with the event's `id`, so that a consumer recognises a repeated delivery.
 *
 * Text `cwd` has the folder in `cwd`. Text `context` has it in `context` as a `file:` URI; another URI that the sender gave comes
 * first. Members without a field in the chosen text are left out.
 *
 * @returns `undefined` if there is no such envelope: for signals (`turn.end`, …), for `file.write` in the text `cwd`, which does not
 *          define it, and for `file.write` at level `none`
 * @example toEnvelope(event, { text: config.openhook.text, level: levelOf(drain, session), own: cardOf(drain, event.source)?.own })
 */
export function toEnvelope(event: Event, { text, level, own }: EnvelopeForm): WrittenEnvelope | undefined {
  if (!isEnvelope(event)) return undefined;
  if (event.type === "file.write" && text === "cwd") return undefined;
  const allowed = keepsNames(level) ? event : withoutNames(event, own);
  if (allowed === undefined) return undefined;
  const { openhook, id, source, type, time, session_id, data } = allowed;
  const { cwd, context = cwd === undefined ? undefined : fileUriOf(cwd), extensions } = allowed;
  return {
    openhook,
    id,
    source,
    type,
    time,
    session_id,
    ...(data !== undefined && { data }),
    ...(text === "cwd" ? cwd !== undefined && { cwd } : context !== undefined && { context }),
    ...(keepsContent(level) && extensions !== undefined && { extensions }),
  };
}

// --- internal ---

/** Also without the transcript's path, which the store keeps because figures come from there. */
function withoutNames(event: Envelope, own: OwnNames | undefined): Envelope | undefined {
  const bare = stripEventNames(event, own);
  if (bare?.type !== "session.end" || bare.data === undefined) return bare;
  const { transcript_path: _, ...data } = bare.data;
  return { ...bare, data };
}
