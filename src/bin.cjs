#!/usr/bin/env node
// An agent waits for the hook: it loads none of the commands.
require(process.argv[2] === "hook" ? "./hook.cjs" : "./cli.cjs");
