/**
 * Prints the settings. `npm run config -- --check` prints the effective values, with secrets masked, every problem,
 * and the stored documents of custom providers that this version can't use. It exits with 1 if there are any. `npm run
 * config -- --example` prints .env.example.
 */
import { parseArgs } from 'node:util';
import { CONSOLE_MISSING_ADVICE, isConsoleMissing } from '../server/console/console-build.ts';
import {
  type Config,
  checkConfig,
  type EnvironmentVariables,
  formatProblem,
  type SettingProblem,
} from '../settings/config.ts';
import { createExampleFile, describeConfig, findEffectiveValue } from './settings.ts';
import { listUnusableDocuments } from './stored-documents.ts';
import { answerHelp } from './usage.ts';

const USAGE = 'Usage: npm run config -- --check, or --example';

/** Returns one line for each setting, the problems, and the configuration if there are none. */
function describeSettings(variables: EnvironmentVariables): {
  lines: string[];
  problems: SettingProblem[];
  config: Config | null;
} {
  const { problems, config } = checkConfig(variables);
  const invalidNames = new Set(problems.map(({ name }) => name));
  const lines = describeConfig().map(({ name }) => {
    if (invalidNames.has(name)) return `${name} has a problem`;
    const value = findEffectiveValue(name, variables);
    if (value === null) return `# ${name} is not set`;
    return variables[name] ? `${name}=${value}` : `${name}=${value} # default`;
  });
  return { lines, problems, config };
}

function parseOptions(args: string[]): { check?: boolean; example?: boolean } | null {
  const flag = { type: 'boolean' } as const;
  try {
    return parseArgs({ args, options: { check: flag, example: flag } }).values;
  } catch {
    return null;
  }
}

/** A database that can't be reached is no problem of the settings, which are also checked before there is a database. */
async function checkDocuments(config: Config): Promise<void> {
  try {
    const lines = await listUnusableDocuments(config);
    if (lines.length === 0) return;
    const advice = 'Their connections would wait. Correct them with updateProvider first';
    console.error(
      `This version can't use these documents of custom providers. ${advice}:\n${lines.join('\n')}`,
    );
    process.exitCode = 1;
  } catch (error) {
    const { message } = error as Error;
    console.error(`The documents of custom providers were not checked: ${message}`);
  }
}

answerHelp(USAGE);
const options = parseOptions(process.argv.slice(2));
if (options?.example) {
  process.stdout.write(createExampleFile());
} else if (options?.check) {
  const { lines, problems, config } = describeSettings(process.env);
  console.log(lines.join('\n'));
  if (config?.ROLES.includes('api') && isConsoleMissing()) {
    console.error(CONSOLE_MISSING_ADVICE);
    process.exitCode = 1;
  }
  if (config) await checkDocuments(config);
  if (problems.length > 0) {
    console.error(`The configuration is invalid:\n${problems.map(formatProblem).join('\n')}`);
    process.exitCode = 1;
  }
  if (process.exitCode === undefined) console.log('# No problem was found');
} else {
  console.error(USAGE);
  process.exitCode = 2;
}
