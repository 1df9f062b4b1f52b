#!/usr/bin/env node
/**
 * Manages a project as a document: exports it, shows what a document would change and which customers it would break,
 * and applies it. It calls the REST API with a key or a token from the environment. docs/config-as-code.md describes it.
 */
import { isUtf8 } from 'node:buffer';
import { readFileSync, writeFileSync } from 'node:fs';
import { buffer } from 'node:stream/consumers';
import { parseArgs } from 'node:util';
import { stringify } from 'yaml';
import { z } from 'zod';
import { answerHelp } from './usage.ts';

const USAGE = `Usage: gateway export [-f project.yaml] [--format yaml|json]
       gateway plan   -f project.yaml [--allow-deletions] [--rename KIND:FROM=TO]...
       gateway diff   -f project.yaml [--allow-deletions] [--rename KIND:FROM=TO]...
       gateway apply  -f project.yaml [--allow-deletions] [--rename KIND:FROM=TO]... [--allow-impacts] [--secret PATH=VARIABLE]...
       gateway apply  --plan pln_...  [--allow-impacts] [--secret PATH=VARIABLE]...
Options: --project NAME, --url URL (or GATEWAY_URL), --json. The file - is the standard input.
Credentials: an API key in GATEWAY_API_KEY, or a bearer token in GATEWAY_TOKEN.
KIND is destination or provider_app. VARIABLE is an environment variable with the value.`;

/** Exit codes. CI distinguishes them. */
const EXIT = { same: 0, failed: 1, changes: 2, impacts: 3 } as const;

/** An error for the user, printed without a stack. */
class CommandError extends Error {}

/** A response with a status of 4xx: the gateway changed nothing. */
class Refusal extends CommandError {}

const OPTIONS = {
  file: { type: 'string', short: 'f' },
  plan: { type: 'string' },
  project: { type: 'string' },
  url: { type: 'string' },
  format: { type: 'string' },
  rename: { type: 'string', multiple: true },
  secret: { type: 'string', multiple: true },
  'allow-deletions': { type: 'boolean' },
  'allow-impacts': { type: 'boolean' },
  json: { type: 'boolean' },
} as const;

type Options = ReturnType<typeof parseArgs<{ options: typeof OPTIONS }>>['values'];

const partsShape = z.array(z.union([z.string(), z.object({ member: z.string() })]));
const itemShape = z.record(z.string(), z.unknown()).optional();
const planShape = z.object({
  id: z.string(),
  hash: z.string(),
  changes: z.array(
    z.object({
      action: z.enum(['create', 'update', 'delete']),
      path: z.string(),
      before: itemShape,
      after: itemShape,
    }),
  ),
  contractChanges: z.array(
    z.object({ severity: z.enum(['breaking', 'dangerous', 'safe']), message: z.string() }),
  ),
  impacts: z.array(
    z.object({
      integrationName: z.string(),
      path: z.string(),
      reason: z.string(),
      installationTotal: z.number(),
      installations: z.array(
        z.object({
          installationId: z.string(),
          groupId: z.string(),
          groupRef: z.string().optional(),
        }),
      ),
    }),
  ),
  findings: z.array(
    z.object({
      severity: z.enum(['error', 'warning']),
      path: z.string(),
      messageParts: partsShape,
    }),
  ),
  requiredSecrets: z.array(z.string()),
  applyTime: z.string().optional(),
});
type Plan = z.output<typeof planShape>;

const issueShape = z.object({
  name: z.string(),
  detail: z.string(),
  parts: partsShape.optional(),
  line: z.number().optional(),
  column: z.number().optional(),
});
const problemShape = z.object({ detail: z.string(), issues: z.array(issueShape).optional() });

/** The REST API of one project. */
class Api {
  readonly #base: string;
  readonly #headers: Record<string, string>;

  constructor({ url, project }: Options, variables: NodeJS.ProcessEnv) {
    const { GATEWAY_URL, GATEWAY_API_KEY, GATEWAY_TOKEN } = variables;
    const origin = url ?? GATEWAY_URL ?? 'http://127.0.0.1:4000';
    if (!URL.canParse(origin))
      throw new CommandError(`--url or GATEWAY_URL: must be a URL\n${USAGE}`);
    if (!project) throw new CommandError(`--project: required\n${USAGE}`);
    this.#base = `${origin.replace(/\/+$/, '')}/v1/projects/${encodeURIComponent(project)}`;
    this.#headers = toHeaders(GATEWAY_API_KEY, GATEWAY_TOKEN);
  }

  async get(path: string): Promise<string> {
    return this.#send('GET', path);
  }

  async post(path: string, body: object): Promise<unknown> {
    return JSON.parse(await this.#send('POST', path, JSON.stringify(body)));
  }

  async #send(method: string, path: string, body?: string): Promise<string> {
    const url = `${this.#base}${path}`;
    const headers = { ...this.#headers, ...(body && { 'content-type': 'application/json' }) };
    const request = { method, headers, ...(body && { body }) };
    const response = await fetch(url, request).catch((error: Error) => {
      throw new CommandError(
        `${url} did not respond: ${(error.cause as Error | undefined)?.message}`,
      );
    });
    const text = await response.text();
    if (response.ok) return text;
    const message = `${response.status}: ${formatProblem(text)}`;
    throw response.status < 500 ? new Refusal(message) : new CommandError(message);
  }
}

function toHeaders(key: string | undefined, token: string | undefined): Record<string, string> {
  if (key) return { 'x-api-key': key };
  if (token) return { authorization: `Bearer ${token}` };
  throw new CommandError(`Set GATEWAY_API_KEY or GATEWAY_TOKEN.\n${USAGE}`);
}

/** The options that set members of the API. */
const FLAGS: Record<string, string> = {
  allowDeletions: '--allow-deletions',
  renames: '--rename',
  secrets: '--secret',
};

/** Returns the option that sets a member, or the member's name if there is none. */
function toFlag(name: string): string {
  const [member = ''] = name.split(/[.[]/);
  return FLAGS[member] ?? name;
}

/** Prints a text of the gateway with the options of this command. */
function printParts(parts: z.output<typeof partsShape>): string {
  return parts.map((part) => (typeof part === 'string' ? part : toFlag(part.member))).join('');
}

/** Formats the problem of a response, with one line for each issue. */
function formatProblem(body: string): string {
  try {
    const { detail, issues = [] } = problemShape.parse(JSON.parse(body));
    if (issues.length === 0) return detail;
    const lines = issues.map((issue) => `  ${toFlag(issue.name)}: ${formatDetail(issue)}`);
    return ['The input is invalid.', ...lines].join('\n');
  } catch {
    return body;
  }
}

function formatDetail({ detail, parts, line, column }: z.output<typeof issueShape>): string {
  if (!parts) return detail;
  const position = line === undefined ? '' : `line ${line}, column ${column}: `;
  return `${position}${printParts(parts)}`;
}

async function readFile(file: string | undefined): Promise<string> {
  if (file === undefined) throw new CommandError(`-f: required\n${USAGE}`);
  const bytes = file === '-' ? await buffer(process.stdin) : readBytes(file);
  if (!isUtf8(bytes)) throw new CommandError(`-f ${file}: must be UTF-8`);
  return bytes.toString('utf8');
}

function readBytes(file: string): Buffer {
  try {
    return readFileSync(file);
  } catch (error) {
    throw new CommandError(`-f: ${(error as Error).message}`);
  }
}

/** Splits `KIND:FROM=TO`. */
function parseRename(option: string) {
  const [, kind, from, to] = /^(destination|provider_app):([^=]+)=(.+)$/.exec(option) ?? [];
  if (!kind) throw new CommandError(`--rename ${option}: must be KIND:FROM=TO\n${USAGE}`);
  return { kind, from, to };
}

/** Splits `PATH=VARIABLE` and reads the variable. */
function parseSecret(option: string) {
  const [, path, variable] = /^(.+)=(\w+)$/.exec(option) ?? [];
  if (!path || !variable)
    throw new CommandError(`--secret ${option}: must be PATH=VARIABLE\n${USAGE}`);
  const value = process.env[variable];
  if (value === undefined) throw new CommandError(`--secret ${option}: ${variable} is not set`);
  return { path, value };
}

async function findOrCreatePlan(api: Api, options: Options): Promise<Plan> {
  if (options.plan !== undefined) {
    return planShape.parse(JSON.parse(await api.get(`/plans/${options.plan}`)));
  }
  const body = {
    document: await readFile(options.file),
    allowDeletions: options['allow-deletions'] ?? false,
    renames: (options.rename ?? []).map(parseRename),
  };
  return planShape.parse(await api.post('/plans', body));
}

function getExitCode({ changes, contractChanges, impacts, findings }: Plan): number {
  if (findings.some(({ severity }) => severity === 'error')) return EXIT.failed;
  const isBreaking = contractChanges.some(({ severity }) => severity === 'breaking');
  if (isBreaking || impacts.length > 0) return EXIT.impacts;
  return changes.length > 0 ? EXIT.changes : EXIT.same;
}

const count = (total: number, noun: string) => `${total} ${noun}${total === 1 ? '' : 's'}`;

const SIGNS = { create: '+', update: '~', delete: '-' } as const;

function printPlan(plan: Plan, { showsLines }: { showsLines: boolean }): void {
  const { id, changes, contractChanges, impacts, findings, requiredSecrets } = plan;
  for (const { action, path, before, after } of changes) {
    console.log(`${SIGNS[action]} ${path}`);
    if (showsLines) for (const line of listChangedLines(before, after)) console.log(`    ${line}`);
  }
  for (const { severity, message } of contractChanges)
    console.log(`contract (${severity}): ${message}`);
  for (const { integrationName, path, reason, installationTotal, installations } of impacts) {
    const share = `${installations.length} of ${count(installationTotal, 'installation')}`;
    console.log(`! ${[integrationName, path].filter(Boolean).join(' ')}: ${reason} (${share})`);
    for (const { installationId, groupId, groupRef } of installations) {
      console.log(`    ${groupRef ?? groupId} (${installationId})`);
    }
  }
  for (const { severity, path, messageParts } of findings) {
    console.log(`${severity}: ${[path, printParts(messageParts)].filter(Boolean).join(': ')}`);
  }
  for (const path of requiredSecrets) console.log(`needs a value: --secret ${path}=VARIABLE`);
  console.log(changes.length > 0 ? `${count(changes.length, 'change')} in ${id}.` : 'No changes.');
}

/** Returns the lines of an item's YAML that only one side has: the removed lines, then the added ones. */
function listChangedLines(before: object | undefined, after: object | undefined): string[] {
  const oldLines = formatLines(before);
  const newLines = formatLines(after);
  return [
    ...oldLines.filter((line) => !newLines.includes(line)).map((line) => `- ${line}`),
    ...newLines.filter((line) => !oldLines.includes(line)).map((line) => `+ ${line}`),
  ];
}

/**
 * Returns one line for each value, or for each line of a text. Each has the path, so that equal values at different paths
 * differ.
 */
function formatLines(value: unknown, path = ''): string[] {
  if (typeof value === 'string' && value.trimEnd().includes('\n')) {
    return value
      .trimEnd()
      .split('\n')
      .map((line) => `${path}: ${line}`);
  }
  if (typeof value !== 'object' || value === null) {
    return value === undefined ? [] : [`${path}: ${stringify(value).trimEnd()}`];
  }
  const entries = Object.entries(value);
  return entries.flatMap(([name, member]) =>
    formatLines(member, Array.isArray(value) ? `${path}[${name}]` : `${path && `${path}.`}${name}`),
  );
}

async function runExport(api: Api, { format = 'yaml', file }: Options): Promise<number> {
  const document = await api.get(`:export?format=${encodeURIComponent(format)}`);
  if (file === undefined || file === '-') process.stdout.write(document);
  else writeFileSync(file, document);
  return EXIT.same;
}

async function runPlan(api: Api, options: Options, showsLines: boolean): Promise<number> {
  const plan = await findOrCreatePlan(api, options);
  if (options.json) console.log(JSON.stringify(plan, null, 2));
  else printPlan(plan, { showsLines });
  return getExitCode(plan);
}

/** Applies a plan unless it has errors. Impacts and breaking changes of the contract need `--allow-impacts`. */
async function runApply(api: Api, options: Options): Promise<number> {
  const secrets = (options.secret ?? []).map(parseSecret);
  const plan = await findOrCreatePlan(api, options);
  const missingSecrets = plan.requiredSecrets.filter((path) =>
    secrets.every((secret) => secret.path !== path),
  );
  const refusal = findRefusal(plan, { allowsImpacts: options['allow-impacts'], missingSecrets });
  const mustApply = refusal === null && plan.changes.length > 0;
  const printedPlan = mustApply ? await applyPlan(api, plan, secrets) : plan;
  if (options.json) console.log(JSON.stringify(printedPlan, null, 2));
  else printPlan(printedPlan, { showsLines: false });
  if (refusal !== null) {
    const message = `Not applied. ${refusal.reason}`;
    if (options.json) console.error(message);
    else console.log(message);
    return refusal.code;
  }
  if (mustApply && !options.json) console.log(`Applied at ${printedPlan.applyTime}.`);
  return EXIT.same;
}

interface ApplyConditions {
  allowsImpacts: boolean | undefined;
  /** Paths of secrets that the plan requires and no option sets. */
  missingSecrets: string[];
}

/** Returns why the plan is not applied, what to do, and the exit code. Null if it may be applied. */
function findRefusal(plan: Plan, { allowsImpacts = false, missingSecrets }: ApplyConditions) {
  const code = getExitCode(plan);
  if (code === EXIT.failed) return { code, reason: 'Correct the errors in the document.' };
  if (code === EXIT.impacts && !allowsImpacts) {
    const effect = plan.impacts.length > 0 ? 'break installations' : 'break the contract';
    return { code, reason: `Pass --allow-impacts to ${effect}.` };
  }
  if (missingSecrets.length === 0) return null;
  const options = missingSecrets.map((path) => `--secret ${path}=VARIABLE`);
  return { code: EXIT.failed, reason: `Pass ${options.join(' ')}` };
}

async function applyPlan(api: Api, { id }: Plan, secrets: object[]): Promise<Plan> {
  try {
    return planShape.parse(await api.post(`/plans/${id}:apply`, { secrets }));
  } catch (error) {
    if (error instanceof Refusal) throw new CommandError(`${error.message}\nNot applied.`);
    throw error;
  }
}

async function main(args: string[]): Promise<number> {
  const { values: options, positionals } = parseOptions(args);
  const [command, ...extraArguments] = positionals;
  if (extraArguments.length > 0)
    throw new CommandError(`${extraArguments.join(' ')}: not an argument\n${USAGE}`);
  const openApi = () => new Api(options, process.env);
  if (command === 'export') return runExport(openApi(), options);
  if (command === 'plan') return runPlan(openApi(), options, false);
  if (command === 'diff') return runPlan(openApi(), options, true);
  if (command === 'apply') return runApply(openApi(), options);
  throw new CommandError(USAGE);
}

function parseOptions(args: string[]) {
  try {
    return parseArgs({ args, options: OPTIONS, allowPositionals: true });
  } catch (error) {
    throw new CommandError(`${(error as Error).message}\n${USAGE}`);
  }
}

answerHelp(USAGE);
try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  console.error(error instanceof CommandError ? error.message : error);
  process.exitCode = EXIT.failed;
}
