// Who may import whom. test/layout.test.ts runs it, plants one violation per rule and checks that each is reported.
//
//   cli, collect, read → program, commands on demand   commands → any room, pipeline
//   pipeline, drain, import → capture, transcripts, sessions and the rooms below
//   health, reconcile, registration, convert, demo, stack, view → the rooms below, never drain
//   report → sessions, store, telemetry, text    sessions → store, session, telemetry
//   bridge → store, capture, session, convert, text
//   capture → store, config, privacy, telemetry  transcripts → store, config
//   every outgoing connection → network          otlp, reconcile → network
//   session, telemetry → model                   store, otlp, config, repository, privacy → model
//   agents → model, agents/shared                intake/hook → node's own modules
//   text → model                                 model → zod
//   nobody → commands, cli, collect, read, program
const rule = (name, from, to) => ({ name, severity: "error", from, to });

/** Imports that are erased when the program is compiled. */
const TYPES = ["type-only", "type-import"];
/** Types with their zod schemas. */
const SCHEMAS = "^src/core/model/(changes|content|envelope|event-schema|file-write|telemetry|transcript)\\.ts$";
/** The files an agent waits for. */
const HOOK = "^src/collect/intake/(hook[a-z-]*|inbox-file)\\.ts$";

module.exports = {
  forbidden: [
    // Types included: a cycle of types still means that two files are one
    rule("no-cycles", {}, { circular: true }),
    rule("no-broken-imports", {}, { couldNotResolve: true }),

    // The hot half: what an agent waits for loads node's own modules, types cost nothing
    rule("intake-is-bare", { path: HOOK }, { pathNot: HOOK, dependencyTypesNot: ["core", ...TYPES] }),
    rule(
      "hook-starts-nothing-else",
      { path: "^src/(hook-main|config/places|agents/replies)\\.ts$" },
      {
        pathNot: "^src/(intake/hook|config/places|agents/replies|agents/intake\\.const)\\.ts$",
        dependencyTypesNot: ["core", ...TYPES],
      },
    ),
    rule(
      "intake-knows-only-the-model",
      { path: "^src/collect/intake/" },
      { path: "^src/", pathNot: "^src/(intake|model)/|^src/own-file\\.ts$" },
    ),

    // And the memory of this process, which limits what is parsed
    rule(
      "model-imports-only-zod",
      { path: "^src/core/model/" },
      { pathNot: ["^src/core/model/", "node_modules/zod/", "^v8$"] },
    ),

    // zod takes 10 ms to load, and only payloads are checked: schemas are loaded when the first one is
    rule(
      "schemas-are-loaded-on-use",
      {
        path: "^src/(agents|capture|drain|import|model|repository|session|sessions|store|telemetry|transcripts)/|^src/pipeline",
        pathNot: [SCHEMAS, "\\.lazy\\.ts$"],
      },
      { path: [SCHEMAS, "node_modules/zod/"], dependencyTypesNot: TYPES },
    ),

    // One folder per agent; what two of them want lies in shared
    rule("agents-know-only-the-model", { path: "^src/agents/" }, { path: "^src/", pathNot: "^src/(agents|model)/" }),
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
      { path: "^src/(session|telemetry)/" },
      {
        pathNot: [
          "^src/(session|telemetry|model)/",
          "node_modules/(uuid|@pydantic)/",
          "^(node:)?crypto$",
          "^package\\.json$",
        ],
      },
    ),
    rule("session-before-telemetry", { path: "^src/core/session/" }, { path: "^src/core/telemetry/" }),

    // Each station of the flow knows itself and the nouns. Files that others can write are opened in one way
    rule(
      "stations-know-only-the-model",
      { path: "^src/(store|otlp|config|repository|network)/" },
      { path: "^src/", pathNot: "^src/($1|model|network)/|^src/(own-file|agents/shared/transcript/open)\\.ts$" },
    ),
    // How much of a fact is kept; where transcripts lie; sessions as the store gives them
    rule(
      "capture-decides-alone",
      { path: "^src/store/capture/" },
      { path: "^src/", pathNot: "^src/(capture|model|config|privacy|store|telemetry)/" },
    ),
    // It runs commands of the user and of repositories: it knows nothing of agents, transcripts or backends
    rule(
      "bridge-hosts-alone",
      { path: "^src/collect/bridge/" },
      {
        path: "^src/",
        pathNot: [
          "^src/(bridge|model|config|store|capture|session|convert|text|agents/shared)/",
          "^src/(context|own-file|registration/discovery|intake/inbox-file)\\.ts$",
        ],
      },
    ),
    rule(
      "transcripts-are-found-apart",
      { path: "^src/collect/transcripts/" },
      { path: "^src/", pathNot: "^src/(transcripts|model|config|store)/" },
    ),
    rule(
      "sessions-only-read",
      { path: "^src/store/sessions/" },
      {
        path: "^src/",
        pathNot: ["^src/(sessions|model|config|session|store|telemetry|intake|text)/", "^src/context\\.ts$"],
      },
    ),
    rule(
      "report-reads-sessions",
      { path: "^src/show/report/" },
      { path: "^src/", pathNot: ["^src/(report|sessions|model|store|telemetry|text)/", "^src/context\\.ts$"] },
    ),
    // Git is started in one folder, with a safe environment
    rule(
      "git-is-asked-apart",
      { path: "^src/changes/git/" },
      { path: "^src/", pathNot: "^src/(changes/git/|model/|bridge/command-environment\\.ts$)" },
    ),
    rule(
      "text-knows-no-room",
      { path: "^src/kit/text/" },
      { path: "^src/", pathNot: ["^src/(text|model)/", "^src/(context|safe-output)\\.ts$"] },
    ),
    rule(
      "stations-serve-drains-and-imports",
      { path: "^src/", pathNot: "^src/(drain|import|convert|commands)/|^src/pipeline\\.ts$" },
      { path: "^src/collect/drain/" },
    ),
    // What takes secrets out knows texts and records; who uses it, and for what, is decided elsewhere
    rule(
      "privacy-knows-only-the-model",
      { path: "^src/core/privacy/" },
      { path: "^src/", pathNot: "^src/(privacy|model)/" },
    ),
    rule(
      "otel-lives-in-otlp",
      { path: "^src/", pathNot: "^src/(otlp|model)/" },
      { path: "node_modules/@opentelemetry/" },
    ),
    // Every outgoing connection opens in one place. The page's server and the demo's receiver only listen.
    rule(
      "connections-open-in-network",
      { path: "^src/", pathNot: "^src/(network/|view/(server|guard)\\.ts$|demo/receiver\\.ts$)" },
      { path: "^(node:)?(http|https|http2|net|tls|dgram)$|node_modules/(undici|@grpc)/" },
    ),
    // An agent that keeps its sessions in a database has that, too, in its folder
    rule(
      "sqlite-lives-in-store",
      { path: "^src/", pathNot: "^src/(store|model|agents/[^/]+)/" },
      { path: "node_modules/libsql/" },
    ),

    // The program is bundled from src alone; dashboards read its names, never the other way round
    rule("src-stands-alone", { path: "^src/" }, { path: "^(dashboards|collector-config)/" }),

    // The page knows no Node and nothing of the program but what is sent to it, how amounts are written and which failures stand out;
    // the server knows nothing of the page
    rule(
      "page-runs-in-a-browser",
      { path: "^src/show/view/page/" },
      {
        pathNot: [
          "^src/show/view/page/",
          "^src/(view/(wire/[^/]+|match)|text/(amounts|failure-share))\\.ts$",
          "node_modules/(preact|uplot)/",
        ],
      },
    ),
    rule("page-is-built-apart", { path: "^src/", pathNot: "^src/show/view/page/" }, { path: "^src/show/view/page/" }),

    // Nobody calls up
    rule(
      "commands-are-the-edge",
      { path: "^src/", pathNot: "^src/(commands/|(background-drain|cli|collect|read|program)\\.ts$)" },
      { path: "^src/(commands/|(background-drain|cli|collect|read|program)\\.ts$)" },
    ),
    rule("commands-start-the-pipeline", { path: "^src/", pathNot: "^src/commands/" }, { path: "^src/pipeline\\.ts$" }),
    rule(
      "commands-are-loaded-on-demand",
      { path: "^src/((cli|collect|read|program)\\.ts$|commands/definitions/)" },
      {
        path: "^src/commands/",
        pathNot: "^src/commands/definitions/",
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
          "^src/commands/(definitions/|(sessions|report|read-one|read-and-repair|set-up|drain|import|view|completion)\\.ts$)",
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
