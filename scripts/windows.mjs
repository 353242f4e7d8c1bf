// `npm run test:windows`: runs test/windows, the packed program with Windows' Node under Wine. On machines that cannot run it, it prints
// the reason and exits with 0.
import { spawnSync } from "node:child_process";
import { build } from "esbuild";

const { outputFiles } = await build({
  entryPoints: ["test/windows/make.ts"],
  bundle: true,
  platform: "node",
  format: "esm",
  write: false,
});
const code = Buffer.from(outputFiles[0].contents).toString("base64");
const { whyNot } = await import(`data:text/javascript;base64,${code}`);
const reason = whyNot();
if (reason !== undefined) {
  const text = `NOT RUN: the tests for Windows. This machine cannot have one: ${reason}.`;
  console.error(`\n${"!".repeat(text.length)}\n${text}\n${"!".repeat(text.length)}\n`);
} else {
  const args = ["vitest", "run", "--config", "test/windows/vitest.config.ts", ...process.argv.slice(2)];
  process.exitCode = spawnSync("npx", args, { stdio: "inherit" }).status ?? 1;
}
