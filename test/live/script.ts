/** What one answer costs. Parts that do not overlap: an API adds them up as its figures want them. */
export interface Usage {
  readonly input?: number;
  readonly cacheRead?: number;
  readonly cacheWrite?: number;
  readonly output?: number;
  readonly reasoning?: number;
}

/** A tool the model asks for, and what must come of it. */
export interface ToolUse {
  readonly name: string;
  /** A text for tools that take free text. */
  readonly input: Readonly<Record<string, unknown>> | string;
  readonly status: "success" | "error" | "unfinished";
  /** Some APIs group their tools. */
  readonly namespace?: string;
  readonly startsSubagent?: true;
}

/** One answer of the model server. */
export interface Reply {
  readonly reasoning?: string;
  readonly text?: string;
  readonly tools?: readonly ToolUse[];
  readonly usage?: Usage;
  /** An HTTP status in an answer's stead. */
  readonly failure?: number;
}

/** One process of the agent, with one prompt. */
export interface Step {
  readonly prompt: string;
  /** Goes on with the session of the step before. */
  readonly continues?: true;
  /** SIGKILL while the tool `slow` runs. */
  readonly killed?: true;
  /** It may end with an exit code. */
  readonly fails?: true;
}

/** What the agent offers the model. */
export interface Tools {
  read(file: string, status?: ToolUse["status"]): ToolUse;
  shell(command: string, status?: ToolUse["status"]): ToolUse;
  subagent(prompt: string): ToolUse;
  /** A command that ends with an exit code, judged as this agent does. */
  failing(exitCode: number): ToolUse;
  /** Runs until the agent is killed. */
  slow(): ToolUse;
  /** The last answer to a subagent. */
  lastWord(text: string): Reply;
  /** What the main agent must do before it hears of its subagent. */
  awaitSubagent(usage: Usage): readonly Reply[];
}

/** Answers in the order they are given out. The last one is repeated where `forGood` says so. */
export interface Script {
  readonly main: readonly Reply[];
  readonly sub?: readonly Reply[];
  readonly forGood?: true;
}

export type Asker = "main" | "sub" | "aside";

/** Gives out a script's answers; `undefined` where the script has no answer left. */
export class Prompter {
  readonly #left: Readonly<Record<"main" | "sub", Reply[]>>;
  readonly #forGood: boolean;

  constructor({ main, sub = [], forGood }: Script) {
    this.#left = { main: [...main], sub: [...sub] };
    this.#forGood = forGood === true;
  }

  next(asker: "main" | "sub"): Reply | undefined {
    const queue = this.#left[asker];
    return this.#forGood && queue.length === 1 ? queue[0] : queue.shift();
  }

  get unasked(): number {
    const left = this.#left.main.length + this.#left.sub.length;
    return this.#forGood ? left - 1 : left;
  }
}
