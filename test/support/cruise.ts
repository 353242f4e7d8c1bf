import { execFileSync } from "node:child_process";
import { createRequire } from "node:module";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

export const ROOT = resolve(dirname(fileURLToPath(import.meta.url)), "..", "..");

const CONFIG = join(ROOT, ".dependency-cruiser.cjs");

/** The rules that say who may import whom. */
export const { forbidden: RULES } = createRequire(import.meta.url)(CONFIG) as {
  readonly forbidden: readonly { name: string }[];
};

export interface Violation {
  readonly from: string;
  readonly to: string;
  readonly rule: string;
}

export type Import = readonly [from: string, to: string];

/** @returns `sources` and `imports` only of `src` */
export function cruise(root: string): {
  readonly violations: readonly Violation[];
  readonly sources: readonly string[];
  readonly imports: readonly Import[];
} {
  const program = join(ROOT, "node_modules", "dependency-cruiser", "bin", "dependency-cruise.mjs");
  const args = [program, "src", "--config", CONFIG, "--output-type", "json"];
  const result = JSON.parse(
    execFileSync(process.execPath, args, { cwd: root, maxBuffer: 1 << 28, encoding: "utf8" }),
  ) as {
    readonly modules: readonly {
      readonly source: string;
      readonly dependencies: readonly { readonly resolved: string }[];
    }[];
    readonly summary: {
      readonly violations: readonly { readonly from: string; readonly to: string; readonly rule: { name: string } }[];
    };
  };
  return {
    violations: result.summary.violations.map(({ from, to, rule }) => ({ from, to, rule: rule.name })),
    sources: result.modules
      .map(({ source }) => source)
      .filter((source) => source.startsWith("src/"))
      .sort(),
    imports: result.modules.flatMap(({ source, dependencies }) =>
      dependencies.map(({ resolved }): Import => [source, resolved]).filter((pair) => pair.every(isOurs)),
    ),
  };
}

const isOurs = (path: string): boolean => path.startsWith("src/");
