#!/usr/bin/env node
// An agent waits for the hook: it loads none of the commands.
const isHook = process.argv[2] === "hook" && !/^(-h|--help)$/.test(process.argv[3] ?? "");
if (isHook || Number.parseInt(process.versions.node, 10) >= 20) {
  // The prompts' library styles its texts as it is loaded, which Node can from 20.12 on
  if (!isHook) require("node:util").styleText ??= (_, text) => text;
  require(isHook ? "./hook.cjs" : "./cli.cjs");
} else {
  const is = `this is Node ${process.version} (${process.execPath}), and 20 or later is needed`;
  process.stderr.write(`openhook-otel: ${is}: install it, then run openhook-otel enable with it\n`);
  process.exitCode = 1;
}
