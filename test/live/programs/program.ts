import type { Api } from "../apis/api.ts";
import type { Asking } from "../model-server.ts";
import type { Asker, Step, Tools, ToolUse } from "../script.ts";

/** Where a program runs. */
export interface Place {
  readonly home: string;
  readonly project: string;
  /** Base URL of the model server, without a trailing slash. */
  readonly url: string;
  readonly model: string;
}

/** A real agent, and how to run it unattended against a model server on loopback. */
export interface Program {
  readonly source: string;
  /** The command that users type. */
  readonly command: string;
  /** npm packages, the program's first, all of the same version. `{platform}`: npm's name of it. */
  readonly packages: readonly string[];
  /** If its package is on PyPI: the versions of Python that it supports, the preferred one first. */
  readonly pythons?: readonly string[];
  readonly version: string;
  /**
   * Path below `node_modules`, if npm's link needs an install script. `{platform}`: npm's name of it. A file with the ending `.br` is
   * unpacked.
   */
  readonly file?: string;
  /** The oldest Node that runs it, if that is newer than the oldest for us. */
  readonly node?: string;
  readonly api: Api;
  readonly model: string;
  /** The model for subagents, if different. */
  readonly subagentModel?: string;
  environment(place: Place): Readonly<Record<string, string>>;
  /** Files below the home folder; values other than text are written as JSON. */
  settings(place: Place): Readonly<Record<string, unknown>>;
  /** Packages that must be in the home folder: a copy of the installed ones, except the program itself. */
  readonly packagesAt?: string;
  arguments(step: Step, model: string): readonly string[];
  askerOf(request: Asking): Asker;
  tools(place: Pick<Place, "project" | "model">): OwnTools;
  /** How it loads skills and calls tools of MCP servers. @default not described */
  readonly extensions?: Extensions;
  /** The status it reports for a command that exits with an error code. */
  readonly exitCodeIs: "success" | "error";
  /** Scenarios that it does not support, with the reason. */
  readonly cannot?: Readonly<Record<string, string>>;
  /** Where it records less than was served. */
  readonly reportsLess?: {
    /** Only turns and subagents have usage, calls have none: the agent says only how many there were, or nothing of them. */
    readonly usageOfCalls?: "number" | "nothing";
    /** Usage is stored after the tools of a call, or at the end of a turn: a call that was killed before has none. */
    readonly usageOfKilledCalls?: true;
    /** Usage is stored when the process has answered its prompt: if it is killed before, none of its calls has usage. */
    readonly usageOfKilledRuns?: true;
    /** A turn that ends with an API error leaves no record of it. */
    readonly failedTurns?: true;
    readonly reasoning?: true;
  };
}

export interface Extensions {
  /** Settings with an MCP server of a name, by file as in `Program.settings`, which they are added to. */
  settings(server: {
    readonly name: string;
    readonly command: string;
    readonly args: readonly string[];
  }): Readonly<Record<string, unknown>>;
  /** Where skills are, below the home folder. */
  readonly skillsIn: string;
  /** Absent: no tool of its own loads skills. */
  readonly loads?: (skill: string) => ToolUse;
  /** A call of a tool of a server. Absent: its model cannot call them by itself. */
  readonly calls?: (server: string, tool: string, input: ToolUse["input"], status?: ToolUse["status"]) => ToolUse;
  /** False: its records do not say which server a tool belongs to. @default true */
  readonly namesServers?: boolean;
}

/** The MCP server and the skills of the scenario with both. */
export const SERVER = "acme-shop";
export const SKILLS = ["audit", "release-notes"];

/** Tools that differ between agents. */
export interface OwnTools extends Pick<Tools, "shell" | "subagent"> {
  /** @default by `shell` */
  readonly read?: Tools["read"];
  readonly lastWord?: Tools["lastWord"];
  readonly awaitSubagent?: Tools["awaitSubagent"];
}

/** All tools of a program. */
export function toolsOf(program: Program, place: Pick<Place, "project" | "model">): Tools {
  const own = program.tools(place);
  const { extensions } = program;
  return {
    read: (file, status) => own.shell(`cat ${file}`, status),
    lastWord: (text) => ({ text }),
    awaitSubagent: () => [],
    skill: (name) => [extensions?.loads?.(name) ?? []].flat().map((tool) => ({ ...tool, skill: name })),
    price: (item, status) =>
      [extensions?.calls?.(SERVER, "lookup_price", { item }, status) ?? []]
        .flat()
        .map((tool) => (extensions?.namesServers === false ? tool : { mcpServer: SERVER, ...tool })),
    ...own,
    subagent: (prompt) => ({ ...own.subagent(prompt), startsSubagent: true }),
    failing: (exitCode) => own.shell(`exit ${exitCode}`, program.exitCodeIs),
    slow: () => own.shell(`echo $$ > "$HOME/${SLOW_PID_FILE}"; exec sleep 300`, "unfinished"),
  };
}

/** The slow tool's start marker, below the home folder. */
export const SLOW_PID_FILE = "slow-tool.pid";

/** A tool that the model requests. */
export const use = (name: string, input: ToolUse["input"], status: ToolUse["status"] = "success"): ToolUse => ({
  name,
  input,
  status,
});
