import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { writeFileAtomically } from '../../src/kernel/atomic-file.ts';

test('creates the folder of a file, and lets only its owner read both', () => {
  const root = mkdtempSync(join(tmpdir(), 'gateway-atomic-'));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const folder = join(root, 'data', 'api');
  writeFileAtomically(join(folder, 'demo.json'), '{}');
  writeFileAtomically(join(folder, 'demo.json'), '{"url":""}');
  expect(readFileSync(join(folder, 'demo.json'), 'utf8')).toBe('{"url":""}');
  expect(statSync(folder).mode & 0o777).toBe(0o700);
  expect(statSync(join(folder, 'demo.json')).mode & 0o777).toBe(0o600);
});
