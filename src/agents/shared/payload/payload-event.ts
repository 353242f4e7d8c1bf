import type { SessionEndReason } from "#core/model/envelope.ts";
import { OPENHOOK_VERSION } from "#core/model/envelope-types.ts";
import type { Event, Extras, NativeEventType } from "#core/model/event-schema.ts";
import type { IntakeFacts } from "#core/model/intake-facts.ts";
import { defined } from "#kit/objects.ts";
import { derivedSessionId, eventId } from "./identity.ts";
import { asString } from "./json.ts";

/** The fields of one payload, as an adapter found them, from which `eventOf` makes an event. */
export interface PayloadEvent {
  readonly source: string;
  readonly type: NativeEventType;
  /** The event's native name. */
  readonly native: string;
  readonly session: PayloadSession;
  readonly cwd?: string | undefined;
  /** @default the intake's time */
  readonly timeMs?: number | undefined;
  /** Together with source, session and name it identifies the event. */
  readonly key: string;
  readonly extras?: Extras;
  readonly model?: string | undefined;
  readonly promptLength?: number | undefined;
  readonly reason?: SessionEndReason | undefined;
  readonly tool?: PayloadTool | undefined;
}

export interface PayloadSession {
  readonly id: string;
  /** Absent if the payload itself contains the id. */
  readonly origin?: "environment" | "transcript" | "minted";
}

export interface PayloadTool {
  readonly name?: string | undefined;
  readonly callId?: string | undefined;
  /** For an end. Absent: unknown. */
  readonly status?: "success" | "error" | undefined;
  readonly durationMs?: number | undefined;
}

/** The session of a payload: its own id, otherwise the environment's, otherwise one per process and folder. */
export function sessionOf(
  source: string,
  intake: IntakeFacts,
  from: { readonly payload?: unknown; readonly environment?: string | undefined; readonly cwd?: string | undefined },
): PayloadSession {
  const own = asString(from.payload);
  if (own !== undefined) return { id: own };
  const inherited = asString(from.environment);
  if (inherited !== undefined) return { id: inherited, origin: "environment" };
  return { id: derivedSessionId(source, intake, from.cwd), origin: "minted" };
}

/** An absolute path, with the home directory and recorded variables substituted; `undefined` for any other. */
export function absolutePath(value: unknown, intake: IntakeFacts): string | undefined {
  const text = asString(value);
  if (text === undefined || /[\n\0]/.test(text)) return undefined;
  const expanded = text
    .replace(/^~(?=[/\\])/, () => intake.env["HOME"] ?? "~")
    .replace(/^\$\{?(\w+)\}?(?=[/\\])/, (whole, name: string) => intake.env[name] ?? whole);
  return /^(?:\/|[A-Za-z]:[/\\]|\\\\)/.test(expanded) ? expanded : undefined;
}

/** Makes an event: an envelope for the OpenHook types of all texts, a signal for the others. */
export function eventOf(payloadEvent: PayloadEvent, intake: IntakeFacts): Event {
  const { source, session, native, tool } = payloadEvent;
  const shared = {
    id: eventId(source, session.id, native, payloadEvent.key),
    source,
    time: new Date(payloadEvent.timeMs ?? intake.timeMs).toISOString(),
    session_id: session.id,
    ...defined<{ cwd: string }>({ cwd: payloadEvent.cwd ?? intake.cwd }),
    extensions: defined<Extras>({
      native_event: native,
      session_id_origin: session.origin,
      process: intake.parentPid === undefined ? undefined : `${intake.parentPid}`,
      payload_bytes: intake.payloadBytes,
      truncated: intake.truncated ? true : undefined,
      ...payloadEvent.extras,
    }),
  };
  const envelope = { openhook: OPENHOOK_VERSION, ...shared };
  const called = defined<{ tool_name: string; tool_call_id: string }>({
    tool_name: tool?.name,
    tool_call_id: tool?.callId,
  });
  switch (payloadEvent.type) {
    case "session.start":
      return { type: payloadEvent.type, ...envelope, data: defined<{ model: string }>({ model: payloadEvent.model }) };
    case "session.end":
      return {
        type: payloadEvent.type,
        ...envelope,
        data: defined<{ reason: SessionEndReason; transcript_path: string }>({
          reason: payloadEvent.reason,
          transcript_path: payloadEvent.extras?.transcript_path,
        }),
      };
    case "prompt.submit":
      return {
        type: payloadEvent.type,
        ...envelope,
        data: defined<{ prompt_length: number }>({ prompt_length: payloadEvent.promptLength }),
      };
    case "tool.start":
      return { type: payloadEvent.type, ...envelope, data: called };
    case "tool.end":
      return {
        type: payloadEvent.type,
        ...envelope,
        data: {
          ...called,
          ...defined<{ status: "success" | "error"; duration_ms: number }>({
            status: tool?.status,
            duration_ms: tool?.durationMs,
          }),
        },
      };
    default:
      return { type: payloadEvent.type, ...shared };
  }
}
