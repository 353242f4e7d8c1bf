/** What programs find in their environment if a command of the agent started them. Nothing of it is content. */
export interface CommandVariables {
  /** Names of variables with the id of the agent's session, as in its hooks; the first that is set counts. Absent: it passes none on. */
  readonly session?: readonly string[];
  /** Name of the variable with the id of the tool call. */
  readonly call?: string;
  /** Name of a variable that is set in its commands, for agents that pass no session on. Its value is not used. */
  readonly mark?: string;
  /** The agent's own hooks have them too, so there they do not say who started the agent. @default false */
  readonly inOwnHooks?: true;
  /** Its tools that run commands. @default any of its tools may */
  readonly shells?: readonly string[];
}

/** An agent in whose commands a session was started, directly or through other agents. */
export interface LaunchingAgent {
  readonly source: string;
  /** Its session; empty if it passes none on. */
  readonly sessionId: string;
  /** The tool call that it names. */
  readonly callId?: string;
}

/** How it is known which session started another one: by what its hook found in its environment, or by the processes above its agent. */
export type LaunchEvidence = "environment" | "processes";

/** The tool call that started a session, and how this is known. */
export interface LaunchingCall {
  readonly callId: string;
  /** `named`: the call's id was in the environment; `only_open`: no other call that can start programs ran then. */
  readonly how: "named" | "only_open";
}
