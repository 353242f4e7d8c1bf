import type { IntakeFacts } from "./intake-facts.ts";
import type { CommandVariables } from "./launch.ts";
import type { RateLimit } from "./rate-limit.ts";
import type { TranscriptEntry } from "./transcript.ts";
import type { LocateQuery } from "./transcript-reader.ts";

/** Where an agent differs from most others. Absent: it does not. */
export interface Quirks {
  /** OpenTelemetry's name of the provider of its models, if there is only one. */
  readonly provider?: string;
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
  /**
   * Model calls in a payload, in the transcript's form, for agents that record token usage nowhere else. Pure; never throws. They
   * belong to the session of the payload's events, of which there is at least one.
   */
  toEntries?(payload: unknown, intake: IntakeFacts): readonly TranscriptEntry[];
  /** How programs that its commands start can tell, so that sessions of other agents are found to be started by it. @default unknown */
  readonly inCommands?: CommandVariables;
  /**
   * True: users also type in terminals below its process, as in an editor. A session of another agent below it was then started by a
   * session of it only if this began in a tool call.
   *
   * @default false
   */
  readonly hasTerminals?: true;
  /** Project files, relative to the project, from which the agent sets environment variables, in addition to `.env`. */
  readonly setsVariablesFrom?: readonly string[];
  /**
   * What the hook prints when the agent waits for an answer: exact bytes without the newline, by the event's name on the command
   * line; `*` for all other events.
   *
   * @default the hook prints nothing: to some agents even `{}` is an answer, or a text for the model
   */
  readonly replies?: Readonly<Record<string, string>>;
  /** The rate limits in the last lines of a session's file. Pure; never throws. Absent: its files have none. */
  rateLimitsOf?(lines: readonly string[]): readonly RateLimit[];
  /** When the last of these lines was written, in milliseconds, if it shows that the account is a subscription. Never throws. */
  subscriptionOf?(lines: readonly string[]): number | undefined;
  /** Names of the folders with session files, directly in the folder of its configuration, which a user can have several of. @default unknown */
  readonly sessionFolders?: readonly string[];
  /** Tools that send a web search to the provider in a request of their own, of which its files have neither tokens nor fee. @default none */
  readonly searchTools?: readonly string[];
  /** Remarks for the log about a payload that was accepted with reservations, one line each. No content. */
  remarks?(payload: unknown): readonly string[];
  /** Whether there is something to read in the reader's `roots`, for agents whose sessions are in projects. Never throws. */
  hasSessions?(home: string, env: Readonly<Record<string, string | undefined>>): boolean;
  /** Sentences with the number of sessions that its reader cannot read because their format is unknown. Never throws. */
  unreadFormats?(query: LocateQuery): Promise<readonly string[]>;
  /** Where else its transcripts are, and what is unknown without them, if users need to know; `doctor` shows it. */
  readonly transcriptNote?: string;
  /** Sources of the agents whose registered hooks it runs too, so that it needs no installer. @default none */
  readonly runsHooksOf?: readonly string[];
}
