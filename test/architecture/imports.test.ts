/** Compares the imports of src with the table in docs/architecture.md, in both directions. */
import { globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { expect, test } from 'vitest';

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
    return { file, target, from: toPart(file), to: toPart(target) };
  });
});

/** Returns the part of `src` that contains the file, or the folder of a file outside of `src`. */
function toPart(file: string): string {
  if (file.startsWith('../')) return dirname(file).slice('../'.length);
  return (file.split('/')[0] as string).replace(/\.ts$/, '');
}

/** The imports that the table permits for each part of `src`: other parts, or single files such as `jobs/leased-work`. */
const PERMITTED_IMPORTS = new Map<string, string[]>();
/** Parts that may import everything. */
const ROOTS: string[] = [];
/** Parts that every part may import. */
const FOR_ALL: string[] = [];

const table = readFileSync(join(src, '..', 'docs/architecture.md'), 'utf8');
for (const [, srcParts, cell] of table.matchAll(/^\| (`src\/[^|]*) \|[^|]*\| ([^|]+) \|$/gm)) {
  const names = [...(srcParts as string).matchAll(/`src\/([\w-]+)/g)].map(
    ([, name]) => name as string,
  );
  if (cell === 'everything') ROOTS.push(...names);
  else if (cell === 'each other') FOR_ALL.push(...names);
  else {
    const permitted = cell === 'nothing' ? [] : (cell as string).split(', ');
    for (const name of names) PERMITTED_IMPORTS.set(name, permitted);
  }
}

const isPermitted = ({ from, to, target }: Import) =>
  FOR_ALL.includes(to) ||
  [to, target.replace(/\.ts$/, '')].some((name) => PERMITTED_IMPORTS.get(from)?.includes(name));

test('the table lists every part of src', () => {
  const srcParts = new Set(files.map(toPart));
  expect([...PERMITTED_IMPORTS.keys(), ...ROOTS, ...FOR_ALL].toSorted()).toEqual(
    [...srcParts].toSorted(),
  );
});

test('each part has only imports that the table permits', () => {
  const forbidden = imports.filter(
    (edge) => edge.from !== edge.to && !ROOTS.includes(edge.from) && !isPermitted(edge),
  );
  expect(forbidden.map(({ file, target }) => `${file} imports ${target}`)).toEqual([]);
  expect(imports.length).toBeGreaterThan(100);
});

test('the table permits no unused import', () => {
  const unused = [...PERMITTED_IMPORTS].flatMap(([part, permitted]) =>
    permitted
      .filter((name) => {
        const isUse = ({ from, to, target }: Import) =>
          from === part && (to === name || target === `${name}.ts`);
        return !imports.some(isUse);
      })
      .map((name) => `${part} may import ${name}`),
  );
  expect(unused).toEqual([]);
});

/** The rooms of the domain, from the top down. */
const rooms = [...section(table, 'Rooms of the domain').matchAll(/^\| `(\w+)\/` \|/gm)].map(
  ([, room]) => room as string,
);

function section(text: string, title: string): string {
  const [, content = ''] = text.split(`### ${title}\n`);
  return content.split(/^##/m)[0] as string;
}

/** Files whose imports run upward, with the rooms from which they import. The document explains them. */
const UPWARD_IMPORTS = new Map([
  ['access/call.ts', ['connections', 'data', 'integrations', 'upkeep']],
  ['integrations/integration/revision.ts', ['data']],
  ['integrations/installation/installation-rows.ts', ['data']],
  ['integrations/installation/check/revision-impacts.ts', ['data']],
]);

test('a room of the domain imports only from rooms below it', () => {
  expect(new Set(rooms)).toEqual(
    new Set(files.flatMap((file) => /^domain\/(\w+)\//.exec(file)?.[1] ?? [])),
  );
  const upward = imports
    .filter(({ from, to }) => from === 'domain' && to === 'domain')
    .map(({ file, target }) => [file, target].map((path) => path.slice('domain/'.length)))
    .map(([file = '', target = '']) => ({ file, room: target.split('/')[0] as string }))
    .filter(({ file, room }) => rooms.indexOf(room) < rooms.indexOf(file.split('/')[0] as string));
  const upwardByFile = Map.groupBy(upward, ({ file }) => file);
  expect(
    new Map(
      [...upwardByFile].map(([file, edges]) => [
        file,
        [...new Set(edges.map(({ room }) => room))].toSorted(),
      ]),
    ),
  ).toEqual(UPWARD_IMPORTS);
});

test('no provider imports another', () => {
  // Declared providers share the code of `declarative`.
  const isProvider = (folder: string) =>
    folder !== 'declarative' && files.includes(`providers/${folder}/${folder}-provider.ts`);
  const findProviderFolder = (path: string) =>
    [/^providers\/([^/]+)\//.exec(path)?.[1]].find((folder) => folder && isProvider(folder));
  const forbidden = imports.filter(({ file, target }) => {
    const [importerFolder, targetFolder] = [findProviderFolder(file), findProviderFolder(target)];
    return (
      importerFolder !== undefined && targetFolder !== undefined && importerFolder !== targetFolder
    );
  });
  expect(forbidden.map(({ file, target }) => `${file} imports ${target}`)).toEqual([]);
});

test('only config.ts and serve.ts read the environment', () => {
  const readers = files.filter((file) =>
    readFileSync(join(src, file), 'utf8').includes('process.env'),
  );
  expect(readers.filter((file) => !file.startsWith('commands/'))).toEqual(['start/serve.ts']);
});

test('only the outbound client sends HTTP requests', () => {
  const callers = files.filter((file) => {
    const text = readFileSync(join(src, file), 'utf8');
    return /from 'undici'|from 'node:https'|\bfetch\(/.test(text) && !file.startsWith('outbound/');
  });
  // The first two files have handlers named `fetch`, and the next two have caches with a method `fetch`. The
  // sandbox sends webhooks as a third party. Commands send requests to the gateway.
  const permittedFiles = [
    'server/graphql/graphql-routes.ts',
    'server/mcp/mcp-routes.ts',
    'domain/connections/provider/object-descriptions.ts',
    'domain/access/viewer/openid.ts',
    'sandbox/webhooks/webhook-subscriptions.ts',
  ];
  expect(
    callers.filter((file) => !file.startsWith('commands/') && !permittedFiles.includes(file)),
  ).toEqual([]);
});
