/** Writes results as JSON, with a description of the machine. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { cpus, totalmem } from 'node:os';
import { join } from 'node:path';

const FOLDER = join(import.meta.dirname, 'results');

export function writeResults(name: string, results: unknown, folder = FOLDER): void {
  mkdirSync(folder, { recursive: true });
  const machine = {
    cores: cpus().length,
    cpu: cpus()[0]?.model,
    memoryBytes: totalmem(),
    node: process.version,
  };
  const path = join(folder, `${name}.json`);
  writeFileSync(path, `${JSON.stringify({ machine, results }, null, 2)}\n`);
}

export function writePicture(name: string, svg: string, folder = FOLDER): void {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, `${name}.svg`), svg);
}
