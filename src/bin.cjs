#!/usr/bin/env node
// The agent waits for the hook, so the hook loads no commands
const isHook = process.argv[2] === "hook" && !/^(-h|--help)$/.test(process.argv[3] ?? "");
if (isHook || Number.parseInt(process.versions.node, 10) >= 20) {
  // The prompt library calls styleText while it loads; Node has it since 20.12
  if (!isHook) require("node:util").styleText ??= (_, text) => text;
  require(isHook ? "./hook.cjs" : "./cli.cjs");
} else {
  const problem = `Node ${process.version} (${process.execPath}) is too old, version 20 or later is required`;
  process.stderr.write(`openhook-otel: ${problem}: install it, then run openhook-otel enable with it\n`);
  process.exitCode = 1;
}
