import { globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { expect, test } from 'vitest';

/** What each part of the house may import. Anything may import errors, log, config types and secrets. */
const MAY_IMPORT: Record<string, string[]> = {
  commands: ['config', 'database', 'domain', 'secrets', 'deliveries'],
  server: ['graphql', 'rest', 'domain', 'database', 'providers'],
  demo: ['graphql', 'domain', 'database'],
  graphql: ['domain', 'events'],
  rest: ['domain', 'events'],
  domain: ['events', 'deliveries', 'jobs', 'providers', 'outbound', 'database'],
  jobs: ['domain', 'events', 'deliveries', 'providers', 'outbound', 'database'],
  events: ['jobs', 'database'],
  deliveries: ['jobs', 'events', 'outbound', 'database'],
  providers: [],
  outbound: [],
  database: [],
};
const FOR_ALL = ['errors', 'log', 'config', 'secrets'];
/** They build everything and may reach everywhere. */
const ROOTS = ['main', 'serve', 'app', 'work'];

const src = join(import.meta.dirname, '..', '..', 'src');
const files = globSync('**/*.ts', { cwd: src }).filter((file) => !file.includes('generated'));

interface Import {
  file: string;
  from: string;
  to: string;
  target: string;
}

const imports: Import[] = files.flatMap((file) => {
  const text = readFileSync(join(src, file), 'utf8');
  const statements = text.matchAll(/^(?:import|export)\s[^;]*?from\s+'(\.[^']+)';/gms);
  return [...statements].map(([, path]) => {
    const target = normalize(join(dirname(file), path as string));
    return { file, target, from: partOf(file), to: partOf(target) };
  });
});

function partOf(file: string): string {
  return (file.split('/')[0] as string).replace(/\.ts$/, '');
}

test('each part imports only what it may', () => {
  const wrong = imports.filter(
    ({ from, to }) =>
      from !== to &&
      !ROOTS.includes(from) &&
      !FOR_ALL.includes(to) &&
      !FOR_ALL.includes(from) &&
      !MAY_IMPORT[from]?.includes(to),
  );
  expect(wrong.map(({ file, target }) => `${file} imports ${target}`)).toEqual([]);
  expect(imports.length).toBeGreaterThan(100);
});

test('domain enqueues jobs, and nothing else of them', () => {
  const wrong = imports.filter(
    ({ from, to, target }) =>
      ['domain', 'events', 'deliveries'].includes(from) &&
      to === 'jobs' &&
      target !== 'jobs/queue.ts',
  );
  expect(wrong.map(({ file, target }) => `${file} imports ${target}`)).toEqual([]);
});

test('one provider never imports another', () => {
  const folderOf = (path: string) => /^providers\/([^/]+)\//.exec(path)?.[1];
  const wrong = imports.filter(({ file, target }) => {
    const [own, other] = [folderOf(file), folderOf(target)];
    return own !== undefined && other !== undefined && own !== other;
  });
  expect(wrong.map(({ file, target }) => `${file} imports ${target}`)).toEqual([]);
});

test('only config.ts and serve.ts read the environment', () => {
  const readers = files.filter((file) =>
    readFileSync(join(src, file), 'utf8').includes('process.env'),
  );
  expect(readers.filter((file) => !file.startsWith('commands/'))).toEqual(['serve.ts']);
});

test('a file is at most 400 lines', () => {
  const long = files
    .map((file) => ({ file, lines: readFileSync(join(src, file), 'utf8').split('\n').length }))
    .filter(({ lines }) => lines > 400);
  expect(long).toEqual([]);
});

test('outbound HTTP leaves through one client', () => {
  const callers = files.filter((file) => {
    const text = readFileSync(join(src, file), 'utf8');
    return /from 'undici'|from 'node:https'|\bfetch\(/.test(text) && !file.startsWith('outbound/');
  });
  // The gateway's own handler and a cache's method are named fetch; commands call the gateway itself.
  const allowed = ['server/handler.ts', 'domain/installation/object-descriptions.ts'];
  expect(
    callers.filter((file) => !file.startsWith('commands/') && !allowed.includes(file)),
  ).toEqual([]);
});
