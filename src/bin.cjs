#!/usr/bin/env node
// An agent waits for the hook: it loads none of the commands.
const isHook = process.argv[2] === "hook" && !/^(-h|--help)$/.test(process.argv[3] ?? "");
require(isHook ? "./hook.cjs" : "./cli.cjs");
