import type { Capabilities } from "./capabilities.ts";
import type { Content } from "./content.ts";
import type { Event, EventType } from "./event-schema.ts";
import type { FileWrite } from "./file-write.ts";
import type { RateLimit } from "./rate-limit.ts";
import type { TranscriptEntry } from "./transcript.ts";

export type { Capabilities } from "./capabilities.ts";
export type { HookCommand } from "./hook-command.ts";

import type { Installer } from "./installer.ts";
import type { IntakeFacts } from "./intake-facts.ts";
import type { LocateQuery, TranscriptReader } from "./transcript-reader.ts";

/**
 * `certain`: no other agent sends this. `likely`: recognised by shape, but it may be another agent's if the command line names
 * one. `possible`: only if the command line names this agent.
 */
export type Recognition = "certain" | "likely" | "possible" | "no";

/** The agent's built-in names, as in its events and entries. All others were added by users. */
export interface OwnNames {
  readonly tools: readonly string[];
  /** Of subagents. */
  readonly agentTypes: readonly string[];
}

/** The facts of one payload. */
export interface PayloadFacts {
  readonly events: readonly Event[];
  readonly entries: readonly TranscriptEntry[];
}

/**
 * Names that the agent's payloads contain, recorded or documented. Others are counted, so that an update of the agent is noticed
 * before it causes losses. Snake case and camel case count as one name.
 */
export interface KnownNames {
  /** Of events, converted or not. */
  readonly events: readonly string[];
  /**
   * Events from which `toEvents` makes nothing because nothing in them is needed, or not in each of them. A payload of any other
   * event that gives no event is quarantined.
   *
   * @default none
   */
  readonly notNeeded?: readonly string[];
  /** Of top-level members. */
  readonly fields: readonly string[];
  /**
   * The event's name in a payload. Pure; never throws.
   *
   * @default `hook_event_name`, otherwise the name on the command line
   */
  eventOf?(payload: object, intake: IntakeFacts): string | undefined;
  /**
   * Unknown names below the top level that cannot be content. Pure; never throws.
   *
   * @default none
   */
  unknownWithin?(payload: object): readonly string[];
}

/** The contract of an agent folder. */
export interface Agent {
  /** Kebab-case; the envelope's `source`. */
  readonly source: string;
  readonly title: string;
  /** What else users may type, in kebab-case: the vendor's name, a former name. The source and the title need not be repeated. @default none */
  readonly otherNames?: readonly string[];
  /** Vendor page that the adapter was written from. */
  readonly docs: string;
  /** OpenTelemetry's name of the provider of its models, if there is only one. */
  readonly provider?: string;
  /** Declared, so that "never sent" does not look like "zero". */
  readonly emits: readonly EventType[];
  readonly tokens: "transcript" | "payload" | "none";
  /** False: it calls no model, so no token usage means none was used. @default true */
  readonly callsModels?: boolean;
  /** True: not one program but all that send OpenHook themselves, so it is never missing on a machine. @default false */
  readonly isAnyProgram?: boolean;
  /** True: its sessions can end while subagents still work. @default false */
  readonly endsBeforeSubagents?: boolean;
  /**
   * True: an ordinary session ends without an event. A session that goes idle then ended like its last turn, instead of having
   * been killed or left open.
   *
   * @default true if `emits` has no `session.end`
   */
  readonly endsSilently?: boolean;
  /**
   * Set if the agent's process runs its hooks, directly or through a shell, and works on their sessions as long as it runs: when it is
   * gone, its sessions are over, and the next process of a session begins a segment. Not for agents whose hooks are run by a server or
   * by a helper that ends first. `agent`: seen with the real program; `likely`: applied only after two different events of a session
   * named the same process.
   *
   * @default unknown: a session without an end event ends when it is idle
   */
  readonly hooksRunIn?: "agent" | "likely";
  /**
   * True: it writes a model call into its transcript after the tools of the answer, so the call is lost if it is killed in a tool.
   *
   * @default false
   */
  readonly writesAfterTools?: boolean;
  /**
   * Set if hooks say which agent a tool call belongs to: a call without an agent's id is then the main agent's, and never matches an
   * equal call of a subagent. `with-prompts`: only payloads that also name their prompt say it.
   *
   * @default unknown: a call without an agent's id can be any agent's
   */
  readonly hooksNameAgents?: true | "with-prompts";
  readonly capabilities: Capabilities;
  readonly known?: KnownNames;
  recognises(payload: unknown, intake: IntakeFacts): Recognition;
  /** Pure; never throws; `[]`: nothing to report. */
  toEvents(payload: unknown, intake: IntakeFacts): readonly Event[];
  /**
   * Model calls in a payload, in the transcript's form, for agents that record token usage nowhere else. Pure; never throws. They
   * belong to the session of the payload's events, of which there is at least one.
   */
  toEntries?(payload: unknown, intake: IntakeFacts): readonly TranscriptEntry[];
  /**
   * Prompts, arguments, results and answers in a payload, unchanged. Called only if the user wants content, and to find ids of commits
   * and changes after a command line that can make some. Pure; never throws.
   *
   * @param facts the result of `toEvents` and `toEntries`; each content refers to one of these
   */
  toContent?(payload: unknown, facts: PayloadFacts): readonly Content[];
  /**
   * Files that a tool call changed, from the payload of its end, without their texts. Called only for payloads with an event whose call
   * did not fail. Pure; never throws; `[]`: none, or unknown.
   */
  toFileWrites?(payload: unknown, facts: PayloadFacts): readonly FileWrite[];
  /** Project files, relative to the project, from which the agent sets environment variables, in addition to `.env`. */
  readonly setsVariablesFrom?: readonly string[];
  /**
   * Names of environment variables that the intake records with every event, whichever agent sent it: ids of sessions, folders,
   * versions; never secrets. hook.sh has them in a generated block, see scripts/hook-variables.mjs.
   *
   * @default none
   */
  readonly environment?: readonly string[];
  /**
   * What the hook prints when the agent waits for an answer: exact bytes without the newline, by the event's name on the command
   * line; `*` for all other events.
   *
   * @default the hook prints nothing: to some agents even `{}` is an answer, or a text for the model
   */
  readonly replies?: Readonly<Record<string, string>>;
  /** The agent's built-in names. Absent: it has none. */
  readonly own?: OwnNames;
  /** The rate limits in the last lines of a session's file. Pure; never throws. Absent: its files have none. */
  rateLimitsOf?(lines: readonly string[]): readonly RateLimit[];
  /** When the last of these lines was written, in milliseconds, if it shows that the account is a subscription. Never throws. */
  subscriptionOf?(lines: readonly string[]): number | undefined;
  /** Remarks for the log about a payload that was accepted with reservations, one line each. No content. */
  remarks?(payload: unknown): readonly string[];
  readonly transcript?: () => Promise<{ default: TranscriptReader }>;
  /**
   * Folders in the home folder, with slashes: all `roots` of its reader are in them unless one of `environment` is set. If none
   * of them exists, there is nothing to read, and the reader is not loaded. Absent: `hasSessions` or the reader has to be asked.
   */
  readonly sessionsBelow?: readonly string[];
  /** Whether there is something to read in the reader's `roots`, for agents whose sessions are in projects. Never throws. */
  hasSessions?(home: string, env: Readonly<Record<string, string | undefined>>): boolean;
  /** Sentences with the number of sessions that its reader cannot read because their format is unknown. Never throws. */
  unreadFormats?(query: LocateQuery): Promise<readonly string[]>;
  /** Where else its transcripts are, and what is unknown without them, if users need to know; `doctor` shows it. */
  readonly transcriptNote?: string;
  readonly installer?: () => Promise<{ default: Installer }>;
  /** Sources of the agents whose registered hooks it runs too, so that it needs no installer. @default none */
  readonly runsHooksOf?: readonly string[];
}
