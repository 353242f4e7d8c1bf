import type { Configured } from "./configured.ts";
import type { Content } from "./content.ts";
import type { Event, EventType } from "./event-schema.ts";
import type { FileWrite } from "./file-write.ts";
import type { HookRunReader } from "./hook-run.ts";
import type { Installer } from "./installer.ts";
import type { IntakeFacts } from "./intake-facts.ts";
import type { McpRegistration } from "./mcp-registration.ts";
import type { NativeExport } from "./native-export.ts";
import type { NativeTable } from "./native-table.ts";
import type { Quirks } from "./quirks.ts";
import type { TranscriptEntry } from "./transcript.ts";
import type { TranscriptReader } from "./transcript-reader.ts";

export type { HookCommand } from "./installer.ts";

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

/**
 * The contract of an agent folder. Every agent has the members without `?`, and most have the others; what only few agents need to
 * say is in `Quirks`.
 */
export interface Agent extends Quirks {
  /** Kebab-case; the envelope's `source`. */
  readonly source: string;
  /** The name that users read. */
  readonly title: string;
  /** Vendor page that the adapter was written from. */
  readonly docs: string;
  /** Declared, so that "never sent" does not look like "zero". */
  readonly emits: readonly EventType[];
  /** Where its token usage is recorded; `none`: nowhere that can be read. */
  readonly tokens: "transcript" | "payload" | "none";
  readonly capabilities: Capabilities;
  recognises(payload: unknown, intake: IntakeFacts): Recognition;
  /** Pure; never throws; `[]`: nothing to report. */
  toEvents(payload: unknown, intake: IntakeFacts): readonly Event[];
  /** What else users may type, in kebab-case: the vendor's name, a former name. The source and the title need not be repeated. @default none */
  readonly otherNames?: readonly string[];
  readonly known?: KnownNames;
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
  /**
   * Names of environment variables that the intake records with every event, whichever agent sent it: ids of sessions, folders,
   * versions; never secrets. hook.sh has them in a generated block, see scripts/hook-variables.mjs.
   *
   * @default none
   */
  readonly environment?: readonly string[];
  /** The agent's built-in tools and subagents. Absent: it has none. */
  readonly own?: OwnNames;
  readonly transcript?: () => Promise<{ default: TranscriptReader }>;
  /**
   * Folders in the home folder, with slashes: all `roots` of its reader are in them unless one of `environment` is set. If none
   * of them exists, there is nothing to read, and the reader is not loaded. Absent: `hasSessions` or the reader has to be asked.
   */
  readonly sessionsBelow?: readonly string[];
  readonly installer?: () => Promise<{ default: Installer }>;
  /** Its own OpenTelemetry. Absent: it has none that we know. */
  readonly nativeExport?: () => Promise<{ default: NativeExport }>;
  /** Where its users register MCP servers. Absent: nowhere that we know and can edit. */
  readonly mcpServer?: () => Promise<{ default: McpRegistration }>;
  /** What users have added to it. Absent: not known. */
  readonly configured?: () => Promise<{ default: Configured }>;
  /** Which hooks it ran, from its session files. Absent: these do not say it. */
  readonly hookRuns?: () => Promise<{ default: HookRunReader }>;
  /** What of its own OpenTelemetry is kept. Absent: it has none, or none that is read. */
  readonly native?: () => Promise<{ default: NativeTable }>;
}

// --- internal ---

/** What we get from an agent beyond its events and `tokens`: one row of the agents' table. */
interface Capabilities {
  /** `recorded`: the real program was run; `documented`: written from public documentation and captures. */
  readonly basis: "recorded" | "documented";
  /** Versions that were checked, e.g. `2.0.77 to 2.1.329`. */
  readonly versions?: string;
  readonly subagents: boolean;
  /**
   * Where session ids come from. `native`: the agent's, unique in the world. `local`: the agent's, unique in one database at most; the
   * core makes them unique, and the adapter and the reader use them as the agent gives them. `minted`: we assign one to payloads that
   * have none.
   */
  readonly sessionIds: "native" | "local" | "minted";
  /** Where ids of tool calls come from; `transcript`: the transcript has them, hooks do not; `minted`: we assign them. */
  readonly callIds: "native" | "transcript" | "minted";
  /** `payload`: equal payloads are one event; `arrival`: only their time distinguishes two equal payloads. */
  readonly eventIds: "payload" | "arrival";
}
