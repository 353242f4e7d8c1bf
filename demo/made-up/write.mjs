// node write.mjs <home>: two made-up weeks of Claude Code, which an import then finds there
import { writeTwoWeeks } from "./two-weeks.mjs";

const [home = ""] = process.argv.slice(2);
writeTwoWeeks(home, Date.now());
