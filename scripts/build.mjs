import { rmSync } from "node:fs";
import { bundle } from "./bundle.mjs";

rmSync("dist", { recursive: true, force: true });
await bundle("dist");
