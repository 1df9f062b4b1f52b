import { execFile } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { describeConfig } from '../../src/commands/settings.ts';
import { readConfig } from '../../src/settings/config.ts';
import { PROCESS_ENV } from '../support/process/process-env.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const readText = (path: string) => readFileSync(join(ROOT, path), 'utf8');
const names = describeConfig().map(({ name }) => name);

async function checkSettings(args: string[], env: Record<string, string> = {}) {
  const command = join(ROOT, 'src/commands/check-settings.ts');
  const running = promisify(execFile)(process.execPath, [command, ...args], {
    env: { ...PROCESS_ENV, ...env },
  });
  return running.then(
    ({ stdout }) => ({ stdout, stderr: '', code: 0 }),
    ({ stdout, stderr, code }: { stdout: string; stderr: string; code: number }) => {
      return { stdout, stderr, code };
    },
  );
}

test('prints the effective settings with masked secrets', async () => {
  const key = Buffer.alloc(32, 7).toString('base64');
  const { stdout, code } = await checkSettings(['--check'], {
    DATABASE_URL: 'postgres://gateway:hunter2@db/x',
    ENCRYPTION_KEY: key,
    ENCRYPTION_KEYS_RETIRED: `${key},${key}`,
    HUBSPOT_BASE_URL: 'https://me:hunter2@hubspot.example/',
    TRUSTED_PROXIES: '10.0.0.0/8, 192.168.0.0/16',
  });
  expect(code).toBe(0);
  const lines = stdout.trimEnd().split('\n');
  expect(lines).toEqual(
    expect.arrayContaining([
      'PORT=4000 # default',
      'DATABASE_URL=***',
      'ENCRYPTION_KEY=***',
      'ENCRYPTION_KEYS_RETIRED=***,***',
      'HUBSPOT_BASE_URL=https://***@hubspot.example/',
      'TRUSTED_PROXIES=10.0.0.0/8,192.168.0.0/16',
      'DELIVERY_RETRY_SECONDS=5,300,1800,7200,18000,36000,36000 # default',
      '# PUBLIC_URL is not set',
    ]),
  );
  expect(lines.at(-1)).toBe('# No problem was found');
  expect(lines).toHaveLength(names.length + 1);
  expect(stdout).not.toContain('hunter2');
  expect(stdout).not.toContain(key);
});

test('reports every invalid setting, and prints the others', async () => {
  const { stdout, stderr, code } = await checkSettings(['--check'], {
    PORT: 'hunter2',
    DATABASE_URL: 'postgres://db/x',
    RATE_LIMIT_BURST: '1',
    TRUSTED_PROXIES: '10.0.0.0/8,hunter2',
  });
  expect(code).toBe(1);
  for (const name of ['PORT', 'ENCRYPTION_KEY', 'RATE_LIMIT_BURST', 'TRUSTED_PROXIES.1']) {
    expect(stderr).toMatch(new RegExp(`^${name}: `, 'm'));
  }
  expect(stdout).toContain('PORT has a problem\n');
  expect(stdout).not.toContain('No problem');
  expect(stdout).toContain('HOST=127.0.0.1 # default\n');
  expect(stdout + stderr).not.toContain('hunter2');
});

test.each([[[]], [['--chek']]])('prints the usage for the arguments %j', async (args) => {
  expect(await checkSettings(args)).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('Usage'),
  });
});

test('generates .env.example', async () => {
  const { stdout } = await checkSettings(['--example']);
  expect(readText('.env.example'), 'run `npm run config -- --example > .env.example`').toBe(stdout);
});

test('says everywhere when the address of a token without the claim is trusted', () => {
  expect(readText('.env.example')).toContain(
    'Trust the email address of tokens without email_verified',
  );
  expect(readText('docs/operations/settings.md')).toContain(
    'Trust the email address of tokens without `email_verified`',
  );
});

test('lists each variable once in .env.example, with its default', () => {
  const pairs = [...readText('.env.example').matchAll(/^#([A-Z_]+)=(.*)$/gm)].map(
    ([, name = '', value = '']) => [name, value] as const,
  );
  expect(pairs.map(([name]) => name)).toEqual(names);
  expect(readConfig(Object.fromEntries(pairs))).toEqual(readConfig({}));
  for (const { name, meaning } of describeConfig()) expect(meaning, name).not.toBe('');
});

test('reads settings only through the configuration', () => {
  const readers = globSync('src/**/*.ts', { cwd: ROOT })
    .filter((file) => !file.includes('generated'))
    .flatMap((file) => readText(file).match(/process\.env\b[.[]\S*?\b\w+/g) ?? []);
  // Exceptions: npm sets `npm_lifecycle_event`, commands read the secrets that their usage names, and `gateway` maps
  // options to variables.
  expect([...new Set(readers)].sort()).toEqual([
    'process.env.BACKUP_PASSPHRASE',
    'process.env.SIGNING_SECRET',
    'process.env.npm_lifecycle_event',
    'process.env[variable',
  ]);
});

test('lists every setting once in the table of docs/operations/settings.md', () => {
  const cells = readText('docs/operations/settings.md').match(/^\| `[^|]+\|/gm) ?? [];
  const listedNames = cells.flatMap((cell) => cell.match(/(?<=`)[A-Z_]+(?=`)/g) ?? []);
  expect(listedNames.sort()).toEqual(names.toSorted());
});
