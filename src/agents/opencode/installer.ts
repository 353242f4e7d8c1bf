import { installerOf } from "../shared/opencode/installer.ts";
import plugin from "./plugin.js?raw";
import { VARIANT } from "./variant.ts";

export default installerOf(VARIANT, plugin);
