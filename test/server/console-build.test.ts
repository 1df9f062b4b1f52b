import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { isConsoleMissing } from '../../src/server/console/console-build.ts';

test('reports a missing console only if it is neither built nor can be built', () => {
  const root = mkdtempSync(join(tmpdir(), 'gateway-console-'));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  expect(isConsoleMissing(root)).toBe(true);
  mkdirSync(join(root, 'node_modules', 'vite'), { recursive: true });
  expect(isConsoleMissing(root)).toBe(false);
  rmSync(join(root, 'node_modules'), { recursive: true });
  mkdirSync(join(root, 'console', 'dist'), { recursive: true });
  writeFileSync(join(root, 'console', 'dist', 'index.html'), '');
  expect(isConsoleMissing(root)).toBe(false);
});
