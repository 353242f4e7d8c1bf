import { dirname } from "node:path";
import { drain } from "#commands/drain.ts";
import { runProcess } from "#commands/program/run-process.ts";
import { optimiseLater } from "#commands/v8-flags.ts";

optimiseLater();
// `openhook-otel drain --quiet`, as hooks start it. It has no other arguments, and the library that parses them costs 12 ms
runProcess(dirname(__dirname), (context) => drain({ endIdle: false, quiet: true, json: false }, context));
