// What `enable --statusline` registers on Windows: prints the status line with the installed copy of the program. hook.conf in the same
// folder names that copy, because each update installs another one. Prints nothing if something is missing, so that the agent shows
// no error.
try {
  const { readFileSync } = require("node:fs");
  const { join } = require("node:path");
  const conf = readFileSync(join(__dirname, "hook.conf"), "utf8");
  const recorded = (name) => new RegExp(`^${name}='(.*)'$`, "m").exec(conf)[1].replaceAll("'\\''", "'");
  // Not the folder that a repository may name in its .env
  process.env.OPENHOOK_OTEL_HOME = recorded("state");
  const program = recorded("program");
  process.argv.splice(1, 1, program, "statusline");
  require(program);
} catch {}
