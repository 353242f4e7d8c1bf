/** What we get from an agent beyond its events and `tokens`: one row of the agents' table. */
export interface Capabilities {
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
