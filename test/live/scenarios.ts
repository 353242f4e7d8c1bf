import type { Script, Step, Tools } from "./script.ts";

/** What an agent is made to do. Unusual figures, so that a wrong sum is noticed. */
export interface Scenario {
  readonly title: string;
  readonly steps: readonly Step[];
  /** How the last turn ends. @default "ended" */
  /** It needs skills and an MCP server. */
  readonly isExtended?: true;
  readonly lastTurn?: "failed" | "unfinished";
  readonly script: (t: Tools) => Script;
}

export const SCENARIOS: Readonly<Record<string, Scenario>> = {
  basic: {
    title: "two tools one after the other, the first fails",
    steps: [{ prompt: "Read the notes and say hi" }],
    script: (t) => ({
      main: [
        {
          reasoning: "I should read the notes first.",
          text: "Reading.",
          tools: [t.read("notes.md", "error")],
          usage: { input: 5990, cacheRead: 4000, cacheWrite: 77, output: 30, reasoning: 31 },
        },
        {
          text: "Now a command.",
          tools: [t.shell("echo hi")],
          usage: { input: 1101, cacheRead: 9002, output: 25, miss: { reason: "tools_changed", tokens: 1077 } },
        },
        {
          text: "All done.",
          usage: {
            ...{ input: 203, cacheRead: 10_004, output: 11, reasoning: 5 },
            miss: { reason: "messages_changed", tokens: 191 },
          },
        },
      ],
    }),
  },

  parallel: {
    title: "four tools in one answer, then three more that are alike",
    steps: [{ prompt: "Check four things at once" }],
    script: (t) => ({
      main: [
        {
          text: "Four at once.",
          tools: [t.read("README.md"), t.read("missing.md", "error"), t.shell("sleep 1; echo slow"), t.failing(3)],
          usage: { input: 8003, output: 81, reasoning: 64 },
        },
        {
          tools: [t.read("README.md"), t.read("README.md"), t.read("src/price.js")],
          usage: { input: 1105, cacheRead: 7904, output: 41 },
        },
        { text: "Finished.", usage: { input: 1007, cacheRead: 8896, output: 12 } },
      ],
    }),
  },

  subagent: {
    title: "a subagent that calls tools",
    steps: [{ prompt: "Find where the price is computed" }],
    script: (t) => ({
      main: [
        { text: "Reading.", tools: [t.read("README.md")], usage: { input: 9007, output: 20, reasoning: 15 } },
        {
          tools: [t.subagent("Where is the price computed? Report the file.")],
          usage: { input: 309, cacheRead: 8802, output: 33 },
        },
        ...t.awaitSubagent({ input: 211, cacheRead: 9008, output: 19 }),
        { text: "It is in src/price.js.", usage: { input: 513, cacheRead: 9010, output: 12 } },
      ],
      sub: [
        {
          text: "Exploring.",
          tools: [t.read("src/price.js"), t.read("README.md")],
          usage: { input: 2003, output: 30, reasoning: 11 },
        },
        { ...t.lastWord("The price is computed in src/price.js."), usage: { input: 405, cacheRead: 1906, output: 60 } },
      ],
    }),
  },

  extended: {
    title: "two skills and an MCP server, of which one call fails",
    steps: [{ prompt: "Audit the prices" }],
    isExtended: true,
    script: (t) => ({
      main: [
        { tools: [...t.skill("audit"), t.read("README.md")], usage: { input: 5003, output: 21 } },
        { tools: [...t.price("pear"), t.read("src/price.js")], usage: { input: 301, cacheRead: 4802, output: 22 } },
        {
          tools: [...t.price("unicorn", "error"), ...t.price("fig"), t.read("README.md")],
          usage: { input: 303, cacheRead: 5004, output: 23 },
        },
        {
          tools: [...t.skill("release-notes"), t.shell("echo hi")],
          usage: { input: 305, cacheRead: 5206, output: 24 },
        },
        { text: "All prices are right.", usage: { input: 307, cacheRead: 5408, output: 9 } },
      ],
    }),
  },

  resume: {
    title: "three processes, the second and third continue the session",
    steps: [
      { prompt: "What is this project?" },
      { prompt: "What is the price?", continues: true },
      { prompt: "Say bye", continues: true },
    ],
    script: (t) => ({
      main: [
        { text: "Reading.", tools: [t.read("README.md")], usage: { input: 5001, output: 15, reasoning: 10 } },
        { text: "It is a shop.", usage: { input: 203, cacheRead: 4898, output: 8 } },
        { tools: [t.read("src/price.js")], usage: { input: 205, cacheRead: 5002, output: 16, reasoning: 3 } },
        { text: "Euros times 100.", usage: { input: 207, cacheRead: 5104, output: 9 } },
        { text: "Bye.", usage: { input: 109, cacheRead: 5306, output: 2 } },
      ],
    }),
  },

  killed: {
    title: "SIGKILL while a tool runs: no end is ever reported",
    steps: [{ prompt: "Run the slow command", killed: true }],
    lastTurn: "unfinished",
    script: (t) => ({
      main: [
        { text: "Reading.", tools: [t.read("README.md")], usage: { input: 6003, output: 15, reasoning: 7 } },
        { text: "Now the slow one.", tools: [t.slow()], usage: { input: 205, cacheRead: 5906, output: 18 } },
      ],
    }),
  },

  "api error": {
    title: "the model server fails once, which the agent retries, and later permanently",
    steps: [{ prompt: "Read two files", fails: true }],
    lastTurn: "failed",
    script: (t) => ({
      main: [
        { text: "Reading.", tools: [t.read("README.md")], usage: { input: 7001, output: 15, reasoning: 7 } },
        { failure: 503 },
        { text: "Second.", tools: [t.read("src/price.js")], usage: { input: 203, cacheRead: 6904, output: 16 } },
        { failure: 400 },
      ],
      repeatsLast: true,
    }),
  },
};
