import { cpus, loadavg, totalmem, type } from "node:os";

/** The machine in one line, which every report needs. */
export function machineLine() {
  const [first, ...rest] = cpus();
  const memory = `${(totalmem() / 2 ** 30).toFixed(0)} GiB`;
  const load = loadavg()[0].toFixed(1);
  return `${rest.length + 1} × ${first.model.trim()}, ${memory}, ${type()}, Node ${process.version}, load ${load}`;
}
