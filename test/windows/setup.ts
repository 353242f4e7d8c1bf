import { install } from "./lab.ts";

export default install;
