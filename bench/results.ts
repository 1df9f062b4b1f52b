/** What was measured, kept as JSON beside the machine that it was measured on. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { cpus, totalmem } from 'node:os';
import { join } from 'node:path';

const RESULTS = join(import.meta.dirname, 'results');

export function writeResults(name: string, results: unknown): void {
  mkdirSync(RESULTS, { recursive: true });
  const machine = {
    cores: cpus().length,
    cpu: cpus()[0]?.model,
    memoryBytes: totalmem(),
    node: process.version,
  };
  const path = join(RESULTS, `${name}.json`);
  writeFileSync(path, `${JSON.stringify({ machine, results }, null, 2)}\n`);
}

export function writePicture(name: string, svg: string): void {
  mkdirSync(RESULTS, { recursive: true });
  writeFileSync(join(RESULTS, `${name}.svg`), svg);
}
