/** Usage of one answer, in parts that do not overlap: each API combines them into its own figures. */
export interface Usage {
  readonly input?: number;
  readonly cacheRead?: number;
  readonly cacheWrite?: number;
  readonly output?: number;
  readonly reasoning?: number;
  /** Why the cache was not read, for APIs that say so; with an estimate of the tokens. */
  readonly miss?: { readonly reason: string; readonly tokens: number };
}

/** A tool that the model requests, and its expected result. */
export interface ToolUse {
  readonly name: string;
  /** A text for tools that accept free text. */
  readonly input: Readonly<Record<string, unknown>> | string;
  readonly status: "success" | "error" | "unfinished";
  /** Some APIs group their tools. */
  readonly namespace?: string;
  readonly startsSubagent?: true;
  /** The skill that it loads, and the MCP server that it calls, as far as the agent names them. */
  readonly skill?: string;
  readonly mcpServer?: string;
}

/** One answer of the model server. */
export interface Reply {
  readonly reasoning?: string;
  readonly text?: string;
  readonly tools?: readonly ToolUse[];
  readonly usage?: Usage;
  /** An HTTP status instead of an answer. */
  readonly failure?: number;
}

/** One process of the agent, with one prompt. */
export interface Step {
  readonly prompt: string;
  /** Continues the session of the previous step. */
  readonly continues?: true;
  /** Killed with SIGKILL while the tool `slow` runs. */
  readonly killed?: true;
  /** It may exit with an error code. */
  readonly fails?: true;
}

/** Tools that the agent offers the model. */
export interface Tools {
  read(file: string, status?: ToolUse["status"]): ToolUse;
  shell(command: string, status?: ToolUse["status"]): ToolUse;
  subagent(prompt: string): ToolUse;
  /** A command that exits with an error code, with the status that this agent reports. */
  failing(exitCode: number): ToolUse;
  /** Loads a skill; empty for an agent without a tool for it. */
  skill(name: string): readonly ToolUse[];
  /** Asks the MCP server for a price. */
  price(item: string, status?: ToolUse["status"]): readonly ToolUse[];
  /** Runs until the agent is killed. */
  slow(): ToolUse;
  /** The last answer to a subagent. */
  lastWord(text: string): Reply;
  /** What the main agent must do before it gets its subagent's result. */
  awaitSubagent(usage: Usage): readonly Reply[];
}

/** Answers in the order in which they are sent. The last one is repeated if `repeatsLast` is set. */
export interface Script {
  readonly main: readonly Reply[];
  readonly sub?: readonly Reply[];
  readonly repeatsLast?: true;
}

/** Who asks the model. Asides, such as titles, are not in the script; an agent keeps a record of some of them as its calls. */
export type Asker = "main" | "sub" | "aside" | "recorded aside";

/** Returns a script's answers; `undefined` if the script has none left. */
export class Prompter {
  readonly #left: Readonly<Record<"main" | "sub", Reply[]>>;
  readonly #repeatsLast: boolean;

  constructor({ main, sub = [], repeatsLast }: Script) {
    this.#left = { main: [...main], sub: [...sub] };
    this.#repeatsLast = repeatsLast === true;
  }

  next(caller: "main" | "sub"): Reply | undefined {
    const queue = this.#left[caller];
    return this.#repeatsLast && queue.length === 1 ? queue[0] : queue.shift();
  }

  get unasked(): number {
    const left = this.#left.main.length + this.#left.sub.length;
    return this.#repeatsLast ? left - 1 : left;
  }
}
