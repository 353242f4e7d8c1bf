// Who may import whom. test/layout.test.ts runs it, plants one violation per rule and checks that each is reported.
//
// The rooms stand in CONTRIBUTING.md, lowest first. A room imports only rooms below it.
const rule = (name, from, to) => ({ name, severity: "error", from, to });

/** Imports that are erased when the program is compiled. */
const TYPES = ["type-only", "type-import"];
/** Types with their zod schemas. */
const SCHEMAS = "^src/core/model/(changes|content|envelope|event-schema|file-write|telemetry|transcript)\\.ts$";
/** From the lowest to the highest; `pipeline.ts` and the programs beside the rooms are above them. */
const ROOMS = [
  "kit",
  "core",
  "agents",
  "config",
  "send",
  "store",
  "show",
  "changes",
  "collect",
  "setup",
  "check",
  "commands",
];

/** The files an agent waits for. */
const HOOK = "^src/collect/intake/(hook(?!-main)[a-z-]*|inbox-file)\\.ts$";

module.exports = {
  forbidden: [
    // Types included: a cycle of types still means that two files are one
    rule("no-cycles", {}, { circular: true }),
    rule("no-broken-imports", {}, { couldNotResolve: true }),

    // Nobody calls up
    // agents-know-only-the-model says more
    ...ROOMS.slice(0, -1).flatMap((room, at) =>
      room === "agents"
        ? []
        : [
            rule(
              `${room}-imports-only-rooms-below`,
              { path: `^src/${room}/` },
              { path: `^src/((${ROOMS.slice(at + 1).join("|")})/|(background-drain|bin|cli)\\.)` },
            ),
          ],
    ),
    rule("programs-are-the-edge", { path: "^src/" }, { path: "^src/(background-drain|cli)\\.ts$" }),
    rule("commands-start-the-pipeline", { path: "^src/", pathNot: "^src/commands/" }, { path: "^src/pipeline\\.ts$" }),

    // The hot half: what an agent waits for loads node's own modules, types cost nothing
    rule("intake-is-bare", { path: HOOK }, { pathNot: HOOK, dependencyTypesNot: ["core", ...TYPES] }),
    rule(
      "hook-starts-nothing-else",
      { path: "^src/(collect/intake/hook-main|config/places|agents/replies)\\.ts$" },
      {
        pathNot: "^src/(collect/intake/hook|config/places|agents/replies|agents/intake\\.const)\\.ts$",
        dependencyTypesNot: ["core", ...TYPES],
      },
    ),
    rule(
      "intake-knows-only-the-model",
      { path: "^src/collect/intake/", pathNot: "hook-main\\.ts$" },
      { path: "^src/", pathNot: "^src/(collect/intake|core/(model|rules|packed)|kit)/" },
    ),

    rule(
      "model-imports-only-zod",
      { path: "^src/core/model/" },
      { pathNot: ["^src/(core/model|kit)/", "node_modules/zod/"] },
    ),

    // zod takes 10 ms to load, and only payloads are checked: schemas are loaded when the first one is
    rule(
      "schemas-are-loaded-on-use",
      {
        path: "^src/(agents|collect/(payload|drain|import|transcripts)|config/repository|core/(model|rules|packed|session|telemetry)|store)/|^src/pipeline",
        pathNot: [SCHEMAS, "\\.lazy\\.ts$"],
      },
      { path: [SCHEMAS, "node_modules/zod/"], dependencyTypesNot: TYPES },
    ),

    // One folder per agent; what two of them want lies in shared
    rule(
      "agents-know-only-the-model",
      { path: "^src/agents/" },
      { path: "^src/", pathNot: "^src/(agents|core/(model|rules|packed)|kit)/" },
    ),
    rule(
      "agents-are-islands",
      { path: "^src/agents/([^/]+)/" },
      { path: "^src/agents/", pathNot: "^src/agents/($1|shared)/" },
    ),
    rule(
      "only-the-registry-knows-agents",
      { path: "^src/", pathNot: "^src/agents/" },
      { path: "^src/agents/([^/]+/|cards\\.ts$)", pathNot: "^src/agents/shared/" },
    ),
    // What is computed when the program is built loads nothing when it runs
    rule(
      "agents-are-loaded-on-demand",
      { path: "^src/agents/[^/]+\\.ts$", pathNot: "^src/agents/(cards|[a-z]+\\.const)\\.ts$" },
      { path: "^src/agents/([^/]+/|cards\\.ts$)", dependencyTypesNot: ["dynamic-import", ...TYPES] },
    ),

    // Pure: no file, no clock, no network. package.json: the price table's version is the package's
    rule(
      "pure-rooms",
      { path: "^src/core/(session|telemetry)/" },
      {
        pathNot: [
          "^src/(core/(session|telemetry|model|rules|packed)|kit)/",
          "node_modules/(uuid|@pydantic)/",
          "^(node:)?crypto$",
          "^package\\.json$",
        ],
      },
    ),
    rule("session-before-telemetry", { path: "^src/core/session/" }, { path: "^src/core/telemetry/" }),

    // Each station of the flow knows itself and the nouns
    rule(
      "stations-know-only-the-model",
      { path: "^src/(store/[^/]+\\.ts$|send/otlp/|config/|send/network/)" },
      { path: "^src/", pathNot: "^src/(store/[^/]+\\.ts$|send/|config/|core/(model|rules|packed|audit)/|kit/)" },
    ),
    // How much of a fact is kept; sessions as the store gives them
    rule(
      "capture-decides-alone",
      { path: "^src/store/capture/" },
      {
        path: "^src/",
        pathNot: "^src/(store/(capture/|[^/]+\\.ts$)|core/(model|rules|packed|audit|privacy|telemetry)/|config/|kit/)",
      },
    ),
    rule(
      "sessions-only-read",
      { path: "^src/store/sessions/" },
      {
        path: "^src/",
        pathNot: "^src/(store/(sessions/|[^/]+\\.ts$)|core/(model|rules|packed|session|telemetry)/|config/|kit/)",
      },
    ),
    // It runs commands of the user and of repositories: it knows nothing of agents, transcripts or backends
    rule(
      "bridge-hosts-alone",
      { path: "^src/collect/bridge/" },
      {
        path: "^src/",
        pathNot: [
          "^src/(collect/(bridge|convert)|store|config|core/(model|rules|packed|session)|kit|agents/shared)/",
          "^src/collect/intake/inbox-file\\.ts$",
        ],
      },
    ),
    rule(
      "transcripts-are-found-apart",
      { path: "^src/collect/transcripts/" },
      { path: "^src/", pathNot: "^src/(collect/transcripts|core/(model|rules|packed)|config|store|kit)/" },
    ),
    rule(
      "report-reads-sessions",
      { path: "^src/show/report/" },
      {
        path: "^src/",
        pathNot:
          "^src/(show/report/|store/(sessions/|[^/]+\\.ts$)|core/(model|rules|packed|telemetry)/|config/context\\.ts$|kit/)",
      },
    ),
    // Git is started in one folder, with a safe environment
    rule(
      "git-is-asked-apart",
      { path: "^src/changes/git/" },
      { path: "^src/", pathNot: "^src/(changes/git/|core/(model|rules|packed)/|kit/|config/programs\\.ts$)" },
    ),
    rule(
      "stations-serve-drains-and-imports",
      { path: "^src/", pathNot: "^src/(collect/(drain|import|convert)|commands)/|^src/pipeline\\.ts$" },
      { path: "^src/collect/drain/" },
    ),
    // What takes secrets out knows texts and records; who uses it, and for what, is decided elsewhere
    rule(
      "privacy-knows-only-the-model",
      { path: "^src/core/privacy/" },
      { path: "^src/", pathNot: "^src/(core/(privacy|model|rules|packed)|kit)/" },
    ),
    rule(
      "otel-lives-in-otlp",
      { path: "^src/", pathNot: "^src/(send/otlp|core/(model|rules|packed))/" },
      { path: "node_modules/@opentelemetry/" },
    ),
    // Every outgoing connection opens in one place. The page's server and the receivers only listen, and ours asks who has its port.
    rule(
      "connections-open-in-network",
      {
        path: "^src/",
        pathNot:
          "^src/(send/network/|show/view/(server|guard)\\.ts$|setup/demo/receiver\\.ts$|collect/native/(run-)?receiver(-file)?\\.ts$)",
      },
      { path: "^(node:)?(http|https|http2|net|tls|dgram)$|node_modules/(undici|@grpc)/" },
    ),
    // An agent that keeps its sessions in a database has that, too, in its folder
    rule(
      "sqlite-lives-in-store",
      { path: "^src/", pathNot: "^src/(store|agents/[^/]+)/" },
      { path: "node_modules/libsql/" },
    ),

    // The program is bundled from src alone; dashboards read its names, never the other way round
    rule("src-stands-alone", { path: "^src/" }, { path: "^(dashboards|collector-config)/" }),

    // The page knows no Node and nothing of the program but what is sent to it, how amounts and models are written, which failures stand out, and when turns are closed;
    // the server knows nothing of the page
    rule(
      "page-runs-in-a-browser",
      { path: "^src/show/view/page/" },
      {
        pathNot: [
          "^src/show/view/page/",
          "^src/(show/(view/(wire/[^/]+|match)|report/waterfall/fold)|kit/text/(amounts|failure-share|model-name))\\.ts$",
          "node_modules/(preact|uplot)/",
          // From how many spans on a session is folded, which the terminal does too
          "^src/show/report/waterfall/fold\\.ts$",
        ],
      },
    ),
    rule("page-is-built-apart", { path: "^src/", pathNot: "^src/show/view/page/" }, { path: "^src/show/view/page/" }),

    rule(
      "commands-are-loaded-on-demand",
      { path: "^src/(cli\\.ts$|commands/(program|definitions)/)" },
      {
        path: "^src/commands/",
        pathNot: "^src/commands/(program|definitions)/|^src/commands/(option-values|v8-flags)\\.ts$",
        dependencyTypesNot: ["dynamic-import", ...TYPES],
      },
    ),
    // Each file that definitions/ imports becomes a part of the build; src/commands/read-and-repair.ts has what more parts cost
    rule(
      "commands-are-built-in-groups",
      { path: "^src/commands/definitions/" },
      {
        path: "^src/commands/",
        pathNot:
          "^src/commands/(definitions/|(sessions|report|read-one|read-and-repair|set-up|drain|import|mcp|view|completion)\\.ts$)",
        dependencyTypes: ["dynamic-import"],
      },
    ),
  ],
  options: {
    tsPreCompilationDeps: true,
    tsConfig: { fileName: "tsconfig.json" },
    doNotFollow: { path: "node_modules" },
    enhancedResolveOptions: { exportsFields: ["exports"], conditionNames: ["import", "node", "default"] },
  },
};
