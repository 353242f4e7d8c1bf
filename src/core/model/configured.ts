import type { InstallTarget } from "./installer.ts";

/** What users have added to an agent: MCP servers and skills, as its settings and folders name them. Only names are kept. */
export interface Configured {
  /** Whether tool calls name the server, and the skill. If not, it is unknown whether one was used. */
  readonly namedInCalls: Readonly<Record<ConfiguredKind, boolean>>;
  /** Reads files and starts nothing. Never throws: what cannot be read has no names. */
  find(target: InstallTarget): Promise<readonly ConfiguredName[]>;
}

export type ConfiguredKind = "mcp" | "skill";

export interface ConfiguredName {
  readonly kind: ConfiguredKind;
  /** As the agent's tool calls have it. */
  readonly name: string;
  /** The settings file; of a skill, its SKILL.md. */
  readonly file: string;
}

/** A name with its agent. */
export interface ConfiguredAt extends ConfiguredName {
  readonly agent: string;
  readonly isNamedInCalls: boolean;
}
