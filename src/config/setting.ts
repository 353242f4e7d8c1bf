import type { FormatName } from "./formats.ts";

/** The prefix of our own variables. */
export const PREFIX = "OPENHOOK_OTEL_";

/** What one setting, or one entry of a map, may contain. */
export type SettingValue = string | number | boolean | Forward;

/** Where an agent's own telemetry went before the agent was pointed to us. */
export interface Forward {
  /** Base address; `/v1/<signal>` is appended. */
  readonly endpoint: string;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Absent: as received. */
  readonly protocol?: (typeof FORWARD_PROTOCOLS)[number] | undefined;
}

export const FORWARD_PROTOCOLS = ["http/json", "http/protobuf"] as const;

/** One setting. A map (headers, attributes) is one setting whose entries are addressed as `<key>.<entry name>`. */
export interface Setting {
  /** Dotted, e.g. `otlp.timeoutMs`. */
  readonly key: string;
  readonly path: readonly string[];
  readonly kind: "text" | "number" | "boolean" | "choice" | "map";
  readonly choices: readonly string[];
  /** Of a number, or of each value of a map of numbers: the lowest value; of a text: the fewest characters. */
  readonly least?: number;
  /** Of a number, or of each value of a map of numbers: the highest value. */
  readonly most?: number;
  /** Of a text, or of each value of a map. */
  readonly format?: FormatName;
  /** Each value of a map is a `Forward`. */
  readonly isForward?: boolean;
  /** Of the name of each entry of a map. */
  readonly entryFormat?: FormatName;
  readonly description: string;
  /** `undefined` if a missing value has no replacement; `{}` for maps. */
  readonly default: unknown;
  readonly unit?: string;
  /** Values are never shown. */
  readonly secret: boolean;
  /** Only files of the user and the administrator set it: a variable can come from a repository. */
  readonly filesOnly: boolean;
  /** Our own variable for it, e.g. `OPENHOOK_OTEL_OTLP_TIMEOUT_MS`; ignored if `filesOnly`. */
  readonly variable: string;
  /** In words, for error messages. */
  readonly allowed: string;
}
