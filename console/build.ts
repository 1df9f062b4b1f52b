/**
 * Builds the console into `console/dist`: compiles operations against schema.graphql, bundles pages, compresses texts.
 * The served folder is replaced in one step when the build is complete. A production install lacks the packages, so
 * nothing is built there.
 */
import { execFile } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { compress } from '../scripts/compress.ts';
import { refuseArguments } from '../src/commands/usage.ts';

refuseArguments('Usage: npm run console');

const root = import.meta.dirname;
const dist = join(root, 'dist');

function findPackage(name: string): string | null {
  try {
    return createRequire(import.meta.url).resolve(name);
  } catch {
    return null;
  }
}

/** Returns the text of each operation by its id. Pages send only the id. */
async function compileOperations(compiler: string): Promise<Record<string, string>> {
  const generatedDir = join(root, '__generated__');
  const persisted = join(generatedDir, 'persisted.json');
  // relay-compiler does not persist operations again that it has compiled before.
  if (!existsSync(persisted)) rmSync(generatedDir, { recursive: true, force: true });
  // relay-compiler creates neither the folder nor the file.
  mkdirSync(generatedDir, { recursive: true });
  if (!existsSync(persisted)) writeFileSync(persisted, '{}');
  const args = [compiler, join(root, 'relay.config.json')];
  await promisify(execFile)(process.execPath, args, { cwd: root });
  return usedDocuments(generatedDir, JSON.parse(readFileSync(persisted, 'utf8')));
}

/** relay-compiler keeps operations of older builds, so they are removed here. */
function usedDocuments(
  generatedDir: string,
  documents: Record<string, string>,
): Record<string, string> {
  const texts = readdirSync(generatedDir).map((name) =>
    readFileSync(join(generatedDir, name), 'utf8'),
  );
  const ids = texts.flatMap((text) => /@relayRequestID (\w+)/.exec(text)?.[1] ?? []);
  return Object.fromEntries(ids.map((id) => [id, documents[id] ?? failMissing(id)]));
}

function failMissing(id: string): never {
  throw new Error(`relay-compiler has persisted no ${id}: delete console/__generated__.`);
}

/**
 * Writes the values of the schema's enums, which forms offer as choices. A new value needs no change of the
 * console.
 */
async function writeEnums(): Promise<void> {
  const { buildSchema, isEnumType } = await import('graphql');
  const schema = buildSchema(readFileSync(join(root, '..', 'schema.graphql'), 'utf8'));
  const enums = Object.values(schema.getTypeMap())
    .filter((type) => isEnumType(type) && !type.name.startsWith('__'))
    .map((type) => {
      const values = isEnumType(type) ? type.getValues().map(({ name }) => name) : [];
      return `export const ${type.name} = ${JSON.stringify(values)} as const;\n`;
    });
  writeFileSync(join(root, '__generated__', 'enums.ts'), enums.join(''));
}

const EDITED = 'IntegrationContentInput';

/** Converts an enum value to the form of manifests: `ON_REQUEST` to `onRequest`. */
const toManifestValue = (value: string) =>
  value.toLowerCase().replace(/_(\w)/g, (_match, letter: string) => letter.toUpperCase());

/**
 * Writes the input type that people edit as a manifest, with all types below it. The editor completes and
 * checks with them.
 */
async function writeEditedInputs(): Promise<void> {
  const { buildSchema, getNamedType, getNullableType, isEnumType, isInputObjectType, isListType } =
    await import('graphql');
  const schema = buildSchema(readFileSync(join(root, '..', 'schema.graphql'), 'utf8'));
  const inputs: Record<string, Record<string, object>> = {};
  const write = (name: string) => {
    const type = schema.getType(name);
    if (!isInputObjectType(type) || name in inputs) return;
    const members: Record<string, object> = {};
    inputs[name] = members;
    for (const { name: member, type: fieldType, defaultValue, description } of Object.values(
      type.getFields(),
    )) {
      const namedType = getNamedType(fieldType);
      members[member] = {
        valueType: namedType.name,
        isList: isListType(getNullableType(fieldType)),
        isRequired: getNullableType(fieldType) !== fieldType && defaultValue === undefined,
        values: isEnumType(namedType)
          ? namedType.getValues().map(({ name: value }) => toManifestValue(value))
          : null,
        description: description ?? '',
      };
      write(namedType.name);
    }
  };
  write(EDITED);
  const text = `export const EDITED = ${JSON.stringify(EDITED)};\nexport const INPUTS = ${JSON.stringify(inputs)};\n`;
  writeFileSync(join(root, '__generated__', 'edited-inputs.ts'), text);
}

/** Writes the schema of provider documents, from which the editor completes them. */
function writeProviderSchema(): void {
  const schema = JSON.parse(readFileSync(join(root, '..', 'docs', 'provider.schema.json'), 'utf8'));
  // A browser parses JSON faster than an object in code.
  const json = JSON.stringify(JSON.stringify(schema));
  const text = `import type { JsonSchema } from '../src/providers/schema-completion.ts';\n\nexport const PROVIDER_SCHEMA: JsonSchema = JSON.parse(${json});\n`;
  writeFileSync(join(root, '__generated__', 'provider-schema.ts'), text);
}

async function bundle(outDir: string): Promise<void> {
  // Tests build a stale console with NODE_ENV=test, for which Vite would bundle the development build of
  // React.
  process.env.NODE_ENV = 'production';
  const { build } = await import('vite');
  const configFile = join(root, 'vite.config.ts');
  await build({ configFile, logLevel: 'warn', build: { outDir, emptyOutDir: true } });
  // A single file with a stable name, because pages of other sites load it.
  const embedded = { entry: join(root, 'embed', 'connect.ts'), fileName: () => 'connect.js' };
  const lib = { ...embedded, name: 'integrationGatewayConnect', formats: ['iife' as const] };
  await build({
    configFile: false,
    publicDir: false,
    logLevel: 'warn',
    build: { outDir, emptyOutDir: false, target: 'es2020', lib },
  });
}

/** Several processes may build at the same time. Each has its own folder, and the last build stays. */
function replaceDist(generatedDir: string): void {
  const oldDist = `${dist}.old-${process.pid}`;
  try {
    renameSync(dist, oldDist);
  } catch {
    // The rename fails if there is no earlier build.
  }
  renameSync(generatedDir, dist);
  rmSync(oldDist, { recursive: true, force: true });
}

const compiler = findPackage('relay-compiler/cli.js');
if (compiler === null || findPackage('vite') === null) {
  console.log(
    'The console is not built, because its development packages are not installed. Run `npm ci` with development packages.',
  );
} else {
  const newDist = `${dist}.new-${process.pid}`;
  try {
    const documents = await compileOperations(compiler);
    await writeEnums();
    await writeEditedInputs();
    writeProviderSchema();
    await bundle(newDist);
    writeFileSync(join(newDist, 'documents.json'), JSON.stringify(documents));
    compress(newDist);
    replaceDist(newDist);
  } finally {
    rmSync(newDist, { recursive: true, force: true });
  }
}
