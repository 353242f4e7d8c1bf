import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** Paths of the real programs. `undefined`: this machine lacks the program, and its tests are skipped. */
export interface Programs {
  /** The OpenTelemetry Collector with the components of collector-config/build/manifest.yaml. */
  readonly collector: string | undefined;
  /** Jaeger v2, without its web pages. */
  readonly jaeger: string | undefined;
  /** Prometheus 3 with its OTLP receiver, without its web pages. */
  readonly prometheus: string | undefined;
  /** Prometheus' tool for rules, of the same release; Debian's if that could not be built. */
  readonly promtool: string | undefined;
  /** Debian's Prometheus 2.x, which scrapes and has no OTLP receiver. */
  readonly oldPrometheus: string | undefined;
  readonly oldPromtool: string | undefined;
}

/** How a program is obtained: everything that decides what is built. */
export type Recipe =
  | { readonly kind: "collector"; readonly builder: string; readonly manifest: string }
  | {
      readonly kind: "go";
      readonly module: string;
      /** The module's version, as Go numbers it. */
      readonly version: string;
      readonly packages: readonly string[];
      readonly tags: string;
      /** The variable that its official builds set to the version, and that version. */
      readonly stamp: readonly [variable: string, version: string];
    }
  | { readonly kind: "debian"; readonly package: string };

/** One build or package, and the programs in it. */
export interface Source {
  readonly name: string;
  readonly recipe: Recipe;
  /** Below its folder. */
  readonly files: Readonly<Partial<Record<keyof Programs, string>>>;
  /** Arguments that print the version. */
  readonly version: readonly string[];
  /** What is not tested on a machine without it. */
  readonly uncovered: string;
}

/** The quickest to build comes first, then those that most tests need. */
export const SOURCES: readonly Source[] = [
  {
    name: "prometheus-debian",
    recipe: { kind: "debian", package: "prometheus" },
    files: { oldPrometheus: "usr/bin/prometheus", oldPromtool: "usr/bin/promtool" },
    version: ["--version"],
    uncovered: "an older Prometheus, 2.x, that scrapes the Collector",
  },
  {
    name: "collector",
    recipe: {
      kind: "collector",
      builder: "go.opentelemetry.io/collector/cmd/builder@v0.158.0",
      manifest: "collector-config/build/manifest.yaml",
    },
    files: { collector: "otelcol-openhook" },
    version: ["--version"],
    uncovered:
      "every file of collector-config/: whether the Collector loads it, and whether it has its effect on our data",
  },
  {
    name: "prometheus",
    recipe: {
      kind: "go",
      module: "github.com/prometheus/prometheus",
      version: "v0.315.0",
      packages: ["./cmd/prometheus", "./cmd/promtool"],
      // Discovery of targets in clouds is half of the build, and not used here
      tags: "netgo,remove_all_sd",
      stamp: ["github.com/prometheus/common/version.Version", "3.15.0"],
    },
    files: { prometheus: "prometheus", promtool: "promtool" },
    version: ["--version"],
    uncovered: "Prometheus 3: metrics by OTLP, and rules by its promtool",
  },
  {
    name: "jaeger",
    recipe: {
      kind: "go",
      module: "github.com/jaegertracing/jaeger",
      // The last v1 and 2.13.0 are one commit. Go accepts no later version, because the module's path has no /v2
      version: "v1.76.0",
      packages: ["./cmd/jaeger"],
      tags: "",
      stamp: ["github.com/jaegertracing/jaeger/internal/version.latestVersion", "v2.13.0"],
    },
    files: { jaeger: "jaeger" },
    version: ["version"],
    uncovered: "whether every trace is found in Jaeger",
  },
];

/**
 * The programs in the cache. `npm run test:stack` builds or installs them before its tests, as does `node
 * scripts/stack.mjs --programs`. This function only looks them up.
 */
export async function programs(): Promise<Programs> {
  const found = (name: keyof Programs): string | undefined =>
    SOURCES.flatMap((source) => pathIn(source, name) ?? []).find((path) => existsSync(path));
  const oldPromtool = found("oldPromtool");
  return {
    collector: found("collector"),
    jaeger: found("jaeger"),
    prometheus: found("prometheus"),
    promtool: found("promtool") ?? oldPromtool,
    oldPrometheus: found("oldPrometheus"),
    oldPromtool,
  };
}

/** The folder of a source's programs, which may not exist yet. Each recipe has its own. */
export const folderOf = (source: Source): string =>
  join(cacheDir(), `${source.name}-${process.platform}-${process.arch}-${fingerprint(source.recipe)}`);

/** Outside the repository: `OPENHOOK_STACK_CACHE`, otherwise a folder in the user's cache. */
export const cacheDir = (env: Readonly<Record<string, string | undefined>> = process.env): string =>
  env["OPENHOOK_STACK_CACHE"] ?? join(env["XDG_CACHE_HOME"] ?? join(homedir(), ".cache"), "openhook-otel", "stack");

export const REPOSITORY = fileURLToPath(new URL("../..", import.meta.url));

// --- internal ---

function pathIn(source: Source, name: keyof Programs): string | undefined {
  const file = source.files[name];
  return file === undefined ? undefined : join(folderOf(source), file);
}

function fingerprint(recipe: Recipe): string {
  const manifest = recipe.kind === "collector" ? componentsOf(join(REPOSITORY, recipe.manifest)) : "";
  return createHash("sha256").update(JSON.stringify(recipe)).update(manifest).digest("hex").slice(0, 12);
}

/** The manifest without its comments: a changed comment needs no new build. */
const componentsOf = (path: string): string =>
  readFileSync(path, "utf8")
    .split("\n")
    .map((line) => line.replace(/\s*(^|\s)#.*$/, ""))
    .filter((line) => line !== "")
    .join("\n");
