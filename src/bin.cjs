#!/usr/bin/env node
// The agent waits for the hook, so the hook loads no commands
const command = process.argv[2];
const isHook = command === "hook" && !/^(-h|--help)$/.test(process.argv[3] ?? "");
if (isHook || Number.parseInt(process.versions.node, 10) >= 20) {
  // The prompt library calls styleText while it loads; Node has it since 20.12
  if (!isHook) require("node:util").styleText ??= (_, text) => text;
  const program = isHook ? "hook" : command === "drain" || command === "import" ? "collect" : "cli";
  require(`./${program}.cjs`);
} else {
  const problem = `Node ${process.version} (${process.execPath}) is too old, version 20 or later is required`;
  process.stderr.write(`openhook-otel: ${problem}: install it, then run openhook-otel enable with it\n`);
  process.exitCode = 1;
}
