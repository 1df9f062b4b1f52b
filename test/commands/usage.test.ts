/**
 * Tests that commands print their usage and do nothing for `--help` and unknown arguments.
 *
 * @module-tag all/process
 */
import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { fillDataFolder } from '../support/database/data-folder.ts';
import { PROCESS_ENV } from '../support/process/process-env.ts';
import { runCommand } from '../support/process/run-command.ts';

const ROOT = join(import.meta.dirname, '../..');
/** Scripts that pass their arguments on to another program, or that check the code. */
const PASSED_ON = /^(?:test|types|lint|format|docs|dev|bench|endurance|postinstall)/;
const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
  scripts: Record<string, string>;
};
const FILES = Object.entries(scripts).flatMap(([name, command]) => {
  const [, file] = /^(?:exec )?node (\S+\.ts)$/.exec(command) ?? [];
  return PASSED_ON.test(name) || !file ? [] : [file];
});

function createFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-usage-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

function run(file: string, args: string[], dataDir: string) {
  const env = { ...PROCESS_ENV, DATA_DIR: dataDir, PORT: '0', SANDBOX_PORT: '0' };
  return new Promise<{ code: number; stdout: string; stderr: string }>((resolve) => {
    execFile(process.execPath, [file, ...args], { cwd: ROOT, env }, (error, stdout, stderr) =>
      resolve({ code: Number(error?.code ?? 0), stdout, stderr }),
    );
  });
}

test('finds the commands of package.json', () => {
  expect(FILES).toContain('src/commands/reencrypt.ts');
  expect(FILES).toContain('src/main.ts');
});

test.each(
  FILES,
)('%s prints its usage for --help and for an unknown argument, and does nothing', async (file) => {
  const dataDir = join(createFolder(), 'data');
  for (const args of [['--help'], ['--new-key', '-h']]) {
    const { code, stdout } = await run(file, args, dataDir);
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringMatching(/^Usage: /) });
  }
  const { code, stderr } = await run(file, ['--unknown'], dataDir);
  expect(code).not.toBe(0);
  expect(stderr).toContain('Usage: ');
  expect(stderr).not.toMatch(/^ {4}at /m);
  expect(existsSync(dataDir)).toBe(false);
});

test.each([
  ['reencrypt', []],
  ['create-org', ['--label', 'Acme', '--invite', 'ada@example.com']],
  ['set-billing-plan', ['--project', 'demo', '--branding-removal', 'true']],
  ['backup', ['backup.zip', '--without-keys']],
  ['move', ['--to', 'other']],
])('%s ends in a sentence if the lock file is damaged', async (name, args) => {
  const dataDir = createFolder();
  fillDataFolder(dataDir);
  writeFileSync(join(dataDir, 'lock.sqlite'), 'damaged '.repeat(1_000));
  const target = createFolder();
  const paths = args.map((arg) => (/^(?:backup|other)/.test(arg) ? join(target, arg) : arg));
  const { code, output } = await runCommand(name, paths, { DATA_DIR: dataDir });
  expect(code).toBe(1);
  expect(output).toContain("lock.sqlite can't be locked: file is not a database.");
  expect(output).not.toMatch(/^ {4}at /m);
  expect(readdirSync(dataDir)).toContain('lock.sqlite');
});
