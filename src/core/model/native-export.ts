import type { InstallTarget } from "./installer.ts";

export type NativeSignal = "traces" | "metrics" | "logs";

/** One destination of the OpenTelemetry that an agent sends itself. */
export interface NativeExporter {
  readonly signals: readonly NativeSignal[];
  /** An address without credentials, the path of a file, or a name such as `Google Cloud`. Headers are never in it. */
  readonly endpoint: string;
  /** Which setting in which file, or which variable, chooses it. */
  readonly where: string;
  /** Whether prompts, arguments or answers are sent. */
  readonly hasContent: boolean;
}

/** Gives the text of a file, `undefined` if there is none that can be read. Never throws. */
export type ReadText = (path: string) => Promise<string | undefined>;

/** What happens if both export to one backend: `metrics` have the same names, `service`: traces have the same `service.name`. */
export type NativeDoubling = "metrics" | "service" | "trace";

/** Where an agent is told to export to. */
export interface NativeAddress {
  /** `http://127.0.0.1:<port>/<source>` */
  readonly url: string;
  readonly token: string;
  /** For agents that export to a file. */
  readonly file: string;
}

/** Where the user's exporter leads to, with its secrets. */
export interface NativeForward {
  readonly endpoint: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly protocol?: "http/json" | "http/protobuf";
}

/** The agent's settings for its own OpenTelemetry. */
export interface NativeSettings {
  path(target: InstallTarget): Promise<string>;
  /**
   * @param forward the user's exporter, if it is to be replaced: its protocol stays
   * @returns the file with our entries and all else as it is; the same text if they are there
   * @throws SettingsError if the agent itself could not read the file
   */
  add(text: string | undefined, address: NativeAddress, forward?: NativeForward): string;
  /**
   * @param original the file as it was before `add`: replaced entries get their old values
   * @returns the file without our entries, those that a user changed excepted; `undefined` if it contained nothing else
   * @throws SettingsError if the agent itself could not read the file
   */
  remove(text: string, original: string | undefined): string | undefined;
  /** The exporter in this file, to forward to. Absent, or `undefined`: what it sends cannot be handed on unchanged. */
  forwardOf?(text: string): NativeForward | undefined;
}

/** An agent that can export OpenTelemetry itself. */
export interface NativeExport {
  /** Which of its exporters are on. Reads files and starts nothing. Never throws: what cannot be read switches nothing on. */
  find(target: InstallTarget, read?: ReadText): Promise<readonly NativeExporter[]>;
  readonly doubles: NativeDoubling;
  /** How many of its metrics have names of ours. @default 0 */
  readonly sharedMetrics?: number;
  /** `port`: exports to the receiver; `file`: appends to a file. */
  readonly to: "port" | "file";
  /** Content that it sends whatever is set, in words. @default none */
  readonly always?: string;
  /** What it sends to us: others may stay with the user's exporter. */
  readonly signals: readonly NativeSignal[];
  /** Absent: only variables switch it on. */
  readonly settings?: NativeSettings;
  /** The variables with which the user has to start an agent without `settings`. */
  variables?(address: NativeAddress): Readonly<Record<string, string>>;
}
